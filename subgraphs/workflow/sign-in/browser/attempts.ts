import { createHash } from 'node:crypto';

import { z } from 'zod';

import { badInput } from '../../../../platform/errors.ts';
import type { SignInSecrets } from '../provider/identity-provider.ts';
import type { Encryption } from '../secrets/encryption.ts';

/**
 * Sign-ins in progress, each stored in one encrypted cookie of the browser: several tabs do not disturb each other, any
 * process can finish a sign-in, and no other browser can.
 */
export type Attempts = ReturnType<typeof createAttempts>;

interface Attempt extends SignInSecrets {
  readonly scope: string;
  /** The redirect after the sign-in; null answers the tokens. */
  readonly target: string | null;
  /** PKCE challenge of the app that will exchange the login code. */
  readonly challenge: string | null;
}

/** The cookie that binds an attempt to its browser. */
export interface AttemptCookie {
  readonly name: string;
  readonly value: string;
  readonly maxAgeSeconds: number;
}

const SECONDS = 600;

/** Browsers silently drop a cookie of more than 4,096 bytes, including its name and attributes. */
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

/** Creates the store; an attempt may take ten minutes. */
export function createAttempts({
  encryption,
  isSecure,
}: {
  readonly encryption: Encryption;
  /** Whether browsers use https: then the cookie has the __Host- prefix. */
  readonly isSecure: boolean;
}) {
  const hashName = (state: string): string => {
    const id = createHash('sha256').update(state).digest('base64url').slice(0, 16);
    return `${isSecure ? '__Host-' : ''}kiln-sign-in-${id}`;
  };
  return {
    /** Name of an attempt's cookie, for deleting it. */
    nameOf: hashName,
    /** The cookie of a new attempt. */
    async begin(attempt: Attempt): Promise<AttemptCookie> {
      const value = await encryption.encrypt({ ...attempt, until: Date.now() + SECONDS * 1000 });
      if (value.length > MAX_VALUE) throw badInput('redirect_url', 'redirect_url and scopes are too long');
      return { name: hashName(attempt.state), value, maxAgeSeconds: SECONDS };
    },
    /** The attempt of this browser with this state. BAD_USER_INPUT when there is none, or it has expired. */
    async end(state: string, cookies: string): Promise<Attempt> {
      const value = findCookie(cookies, hashName(state));
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

function findCookie(header: string, name: string): string | null {
  const pairs = header.split(';').map((pair) => pair.trim());
  const found = pairs.find((pair) => pair.startsWith(`${name}=`));
  return found === undefined ? null : found.slice(name.length + 1);
}
