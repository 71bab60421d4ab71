import type { CallerFacts, ServiceKeyService, SessionService, UserService } from '../../domain/sign-in.ts';
import type { AccessTokens } from './access-tokens.ts';

/** Who a credential stands for: `invalid` for one of our form that is no longer valid, null for a foreign one. */
export type CallerOf = (credential: string) => Promise<CallerFacts | 'invalid' | null>;

export interface CallerOfOptions {
  readonly tokens: AccessTokens;
  readonly sessions: Pick<SessionService, 'isOpen'>;
  readonly users: Pick<UserService, 'isAdmin'>;
  readonly keys: Pick<ServiceKeyService, 'find'>;
}

/** Longest credential that is looked at. */
const MAX_LENGTH = 4_096;

/** Who a credential stands for: an access token of an open session, or a service key. */
export function createCallerOf({ tokens, sessions, users, keys }: CallerOfOptions): CallerOf {
  return async (credential) => {
    if (credential.length > MAX_LENGTH) return null;
    if (!tokens.isOurs(credential)) return keyCaller(await keys.find(credential));
    const claims = await tokens.verify(credential);
    if (claims === null || !(await sessions.isOpen(claims.sessionId))) return 'invalid';
    const scopes = (await users.isAdmin(claims.userId)) ? ['admin'] : [];
    const { userId: id, sessionId, expiresAt } = claims;
    return { kind: 'user', id, scopes, sessionId, expiresAt };
  };
}

function keyCaller(key: Awaited<ReturnType<ServiceKeyService['find']>>): CallerFacts | null {
  return key === null
    ? null
    : { kind: 'key', id: key.id, scopes: key.scopes, sessionId: null, expiresAt: null };
}
