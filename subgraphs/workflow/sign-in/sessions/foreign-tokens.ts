import type { JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';

import { createKeySet, isRefusedToken, SIGNATURE_ALGORITHMS } from '../../../../platform/access/key-set.ts';
import { AppError } from '../../../../platform/errors.ts';
import type { HttpClient } from '../../../../platform/http/http-client.ts';
import { once } from '../../../../platform/once.ts';
import type { Logger } from '../../../../platform/process/logger.ts';
import type { CallerFacts, UserService } from '../../domain/sign-in.ts';
import { AUDIENCE, tokenPart } from './tokens.ts';

/**
 * Access tokens of another issuer: of a service that Kiln has replaced (LEGACY_JWKS), until a date, or of the identity provider
 * for agents (IDP_JWKS). They name their user, and nothing more. Their `sub` is the subject that the same person has at the
 * identity provider here.
 */
export type ForeignTokens = ReturnType<typeof createForeignTokens>;

/** Whose tokens are accepted until when. */
export interface ForeignTokensSettings {
  readonly issuer: string;
  readonly audience: string;
  /** Address of the public keys (JWKS). */
  readonly jwks: string;
  /** Null: for ever. */
  readonly until: Date | null;
}

export interface ForeignTokensOptions {
  readonly settings: ForeignTokensSettings;
  /** The issuer of the identity provider here, at which `sub` is known. */
  readonly providerIssuer: string;
  readonly users: Pick<UserService, 'linkUser' | 'exists'>;
  readonly http: HttpClient;
  readonly logger: Logger;
  readonly now?: () => Date;
}

const CLOCK_SECONDS = 5;
const MAX_USERS = 10_000;
/** Milliseconds that a subject's user is remembered. */
const USER_MS = 60_000;

/** Creates the check, and says in the log until when it holds. */
export function createForeignTokens(options: ForeignTokensOptions) {
  const { settings, logger, now = () => new Date() } = options;
  const { issuer, audience, until } = settings;
  const keys = once(() => createKeySet(options.http, options.settings.jwks));
  const users = new LRUCache<string, string>({
    max: MAX_USERS,
    ttl: USER_MS,
    fetchMethod: (subject) => findUser(options, subject),
  });
  /** A remembered user may have deleted the account: what a token then makes must not be nobody's. */
  const userOf = async (subject: string): Promise<string | undefined> => {
    const id = await users.fetch(subject);
    if (id === undefined || (await options.users.exists(id))) return id;
    users.delete(subject);
    return users.fetch(subject);
  };
  const isOver = (): boolean => until !== null && now() >= until;
  let hasWarned = false;
  const warnOnce = (): void => {
    if (!hasWarned) logger.warn({ issuer, until }, 'LEGACY_JWKS has ended: old access tokens are refused');
    hasWarned = true;
  };
  if (isOver()) warnOnce();
  else if (until !== null)
    logger.info({ issuer, until }, 'LEGACY_JWKS: old access tokens name their users until this date');
  return {
    /** Whether a bearer says that it is of that issuer, and not one of Kiln's under the same address. */
    isTheirs(bearer: string): boolean {
      const { iss, aud } = readClaims(bearer);
      if (iss !== issuer || aud === AUDIENCE) return false;
      // The provider's tokens for others are none of ours; the old service's are, and wrong ones are refused.
      return until !== null || [aud].flat().includes(audience);
    },
    /** The user of a valid token; `invalid` for an expired or forged one, and after the date. UNAVAILABLE without the keys. */
    async findCaller(bearer: string): Promise<CallerFacts | 'invalid'> {
      if (isOver()) {
        warnOnce();
        return 'invalid';
      }
      const claims = await verified(bearer, { settings, keys, now: now() });
      if (claims === null) return 'invalid';
      const id = await userOf(claims.subject);
      if (id === undefined) return 'invalid';
      const { expiresAt } = claims;
      return { kind: 'user', id, scopes: [], generators: null, sessionId: null, expiresAt };
    },
  };
}

/** The claims of a bearer, unverified; empty when it is no JWT. */
function readClaims(bearer: string): Readonly<Record<string, unknown>> {
  const [, body = '', signature, ...more] = bearer.split('.');
  return signature === undefined || more.length > 0 ? {} : tokenPart(body);
}

/** The user whom a subject is here; made at the first request, as a first sign-in would. */
async function findUser({ users, providerIssuer }: ForeignTokensOptions, subject: string): Promise<string> {
  const nothing = { unionId: null, email: null, name: null, picture: null, secret: null };
  const identity = { platform: 'idp', appId: providerIssuer, subject, ...nothing } as const;
  return (await users.linkUser(identity)).id;
}

interface Verification {
  readonly settings: ForeignTokensSettings;
  readonly keys: () => Promise<JWTVerifyGetKey>;
  readonly now: Date;
}

async function verified(
  token: string,
  { settings: { issuer, audience }, keys, now }: Verification,
): Promise<{ readonly subject: string; readonly expiresAt: Date } | null> {
  const { jwtVerify } = await import('jose');
  try {
    const { payload } = await jwtVerify(token, await keys(), {
      issuer,
      audience,
      algorithms: [...SIGNATURE_ALGORITHMS],
      requiredClaims: ['sub', 'exp'],
      clockTolerance: CLOCK_SECONDS,
      currentDate: now,
    });
    const { sub = '', exp = 0 } = payload;
    return sub === '' ? null : { subject: sub, expiresAt: new Date(exp * 1000) };
  } catch (error) {
    if (await isRefusedToken(error)) return null;
    const message = 'access tokens of another issuer can not be checked now: try again';
    throw new AppError('UNAVAILABLE', message, { retryAfter: 5, cause: error });
  }
}
