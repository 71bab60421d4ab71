import type { CallerFacts, ServiceKeyService, SessionService, UserService } from '../../domain/sign-in.ts';
import type { ForeignTokens } from './foreign-tokens.ts';
import type { AccessTokens } from './tokens.ts';

/** Finds the caller of a credential: `invalid` for an invalid one of our form, null for one of another service. */
export type FindCaller = (credential: string) => Promise<CallerFacts | 'invalid' | null>;

export interface CallerFinderOptions {
  readonly tokens: AccessTokens;
  readonly sessions: Pick<SessionService, 'isOpen'>;
  readonly users: Pick<UserService, 'isAdmin'>;
  readonly keys: Pick<ServiceKeyService, 'find'>;
  /** Of LEGACY_JWKS and IDP_JWKS, where they are set. */
  readonly foreign: readonly ForeignTokens[];
}

/** Longest credential that is checked. */
const MAX_LENGTH = 4_096;

/** Finds the caller of an access token with an open session, or of a service key. */
export function createCallerFinder({
  tokens,
  sessions,
  users,
  keys,
  foreign,
}: CallerFinderOptions): FindCaller {
  return async (credential) => {
    if (credential.length > MAX_LENGTH) return null;
    const isOurs = tokens.isOurs(credential);
    const claims = isOurs ? await tokens.verify(credential) : null;
    // Kiln may have taken over the address of the old service, and so its issuer: ours come first.
    const theirs = claims === null ? foreign.find((one) => one.isTheirs(credential)) : undefined;
    if (theirs !== undefined) return theirs.findCaller(credential);
    if (!isOurs) return keyCaller(await keys.find(credential));
    if (claims === null || !(await sessions.isOpen(claims.sessionId))) return 'invalid';
    const scopes = (await users.isAdmin(claims.userId)) ? ['admin'] : [];
    const { userId: id, sessionId, expiresAt } = claims;
    return { kind: 'user', id, scopes, generators: null, sessionId, expiresAt };
  };
}

function keyCaller(key: Awaited<ReturnType<ServiceKeyService['find']>>): CallerFacts | null {
  if (key === null) return null;
  const { id, scopes, generators, expiresAt } = key;
  return { kind: 'key', id, scopes, generators, sessionId: null, expiresAt };
}
