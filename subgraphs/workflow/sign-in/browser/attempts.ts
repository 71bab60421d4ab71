import { createHash } from 'node:crypto';

import { z } from 'zod';

import { badInput } from '../../../../platform/errors.ts';
import type { SignInSecrets } from '../provider/identity-provider.ts';
import type { Encryption } from '../secrets/encryption.ts';

/**
 * A sign-in on its way, kept by the browser alone: one sealed cookie for each, so that several tabs do not disturb each
 * other, any process can finish it, and nobody else's browser can.
 */
export interface Attempts {
  /** The cookie of a new attempt. */
  begin(attempt: Attempt): Promise<AttemptCookie>;
  /** The attempt that this browser began with this state. BAD_USER_INPUT when there is none, or it took too long. */
  end(state: string, cookies: string): Promise<Attempt>;
  /** Name of an attempt's cookie, for taking it back. */
  nameOf(state: string): string;
}

interface Attempt extends SignInSecrets {
  readonly scope: string;
  /** Where the browser goes afterwards; null: our own answer. */
  readonly target: string | null;
  /** Of an app that will prove itself when it exchanges its login code. */
  readonly challenge: string | null;
}

/** The cookie that ties an attempt to the browser it began in. */
export interface AttemptCookie {
  readonly name: string;
  readonly value: string;
  readonly maxAgeSeconds: number;
}

const SECONDS = 600;

/** Browsers drop a cookie of more than 4,096 bytes without a word; its name and attributes count. */
const MAX_VALUE = 3_900;

const sealed = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  scope: z.string(),
  target: z.string().nullable(),
  challenge: z.string().nullable(),
  until: z.number(),
});

/** Makes it; an attempt may take ten minutes. */
export function createAttempts({
  encryption,
  isSecure,
}: {
  readonly encryption: Encryption;
  /** Whether browsers reach us over https: then the cookie is bound to this host. */
  readonly isSecure: boolean;
}): Attempts {
  const nameOf = (state: string): string => {
    const id = createHash('sha256').update(state).digest('base64url').slice(0, 16);
    return `${isSecure ? '__Host-' : ''}kiln-sign-in-${id}`;
  };
  return {
    nameOf,
    async begin(attempt) {
      const value = await encryption.encrypt({ ...attempt, until: Date.now() + SECONDS * 1000 });
      if (value.length > MAX_VALUE) throw badInput('redirect_url', 'redirect_url and scopes are too long');
      return { name: nameOf(attempt.state), value, maxAgeSeconds: SECONDS };
    },
    async end(state, cookies) {
      const value = cookieOf(cookies, nameOf(state));
      if (value === null)
        throw badInput('state', 'state does not belong to a sign-in that this browser began');
      const parsed = sealed.safeParse(await encryption.decrypt(value));
      if (!parsed.success || parsed.data.state !== state) {
        throw badInput('state', 'state does not belong to a sign-in that this browser began');
      }
      const { until, ...attempt } = parsed.data;
      if (until < Date.now()) throw badInput('state', 'the sign-in took too long: begin again');
      return attempt;
    },
  };
}

function cookieOf(header: string, name: string): string | null {
  const pairs = header.split(';').map((pair) => pair.trim());
  const found = pairs.find((pair) => pair.startsWith(`${name}=`));
  return found === undefined ? null : found.slice(name.length + 1);
}
