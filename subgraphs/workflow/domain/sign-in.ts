import type { Caller } from '../../../platform/access/caller.ts';

/** The nouns of signing in. The rules of access are in platform/access/policy.ts. */

/** Where a user signs in: the identity provider, and the platforms of mini-programs. */
export type PlatformName = 'idp' | 'wechat' | 'alipay' | 'douyin';

/** A user: somebody who has signed in. */
export interface User {
  /** `usr_...`: equals the `owner` of what they make. */
  readonly id: string;
  readonly email: string | null;
  readonly name: string | null;
  readonly picture: string | null;
  /** Their subject at the identity provider; null for who has never signed in there. */
  readonly subject: string | null;
  /** When they signed in for the first time. */
  readonly createdAt: Date;
  /** When they last signed in, by any way; null when all ways in are gone. */
  readonly lastSignInAt: Date | null;
  /** How many of their sessions are open. */
  readonly openSessions: number;
}

/** Which users are listed. */
export interface UserListRequest {
  readonly first: number;
  /** The id of the last user already seen. */
  readonly after: string | null;
  /** A part of a name, address, id or subject, in any case; null for everybody. */
  readonly search: string | null;
}

/** A session, as its user sees it. */
export interface Session {
  readonly id: string;
  readonly platform: string;
  readonly createdAt: Date;
  /** When its tokens were last renewed. */
  readonly lastUsedAt: Date;
}

/** What a successful sign-in or a refresh answers. */
export interface SignedIn {
  readonly userId: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Seconds that the access token is good for. */
  readonly expiresIn: number;
  /** separated by spaces. */
  readonly scope: string;
}

/** An identity that a platform has verified. */
export interface PlatformIdentity {
  readonly platform: PlatformName;
  /** The mini-program; for an identity provider its issuer. */
  readonly appId: string;
  readonly subject: string;
  /** The same person in several apps of one owner. */
  readonly unionId: string | null;
  readonly email: string | null;
  readonly name: string | null;
  readonly picture: string | null;
  /** Secrets of the platform (session_key, tokens): stored encrypted, never given out. */
  readonly secret: Readonly<Record<string, string>> | null;
}

/** A key of a program, without its secret. */
export interface ServiceKey {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  /** The only generators it may use; null: any. */
  readonly generators: readonly string[] | null;
  readonly createdAt: Date;
  /** When it ends by itself; null when it does not. */
  readonly expiresAt: Date | null;
  /** Accurate to about a minute. */
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
  /** Until when the secret before the last rotation works; null when there was none. */
  readonly formerUntil: Date | null;
}

/** Who a credential stands for. */
export interface CallerFacts {
  readonly kind: 'user' | 'key';
  readonly id: string;
  readonly scopes: readonly string[];
  /** The only generators a key may use; null: any. */
  readonly generators: readonly string[] | null;
  /** The session of a token; null for a key. */
  readonly sessionId: string | null;
  /** When the credential ends by itself; null when it does not. */
  readonly expiresAt: Date | null;
}

/** Users and their sessions. Implemented by createSessionService (sessions.ts). */
export interface SessionService {
  /** Opens a session for a user. */
  open(request: NewSession): Promise<SignedIn>;
  /**
   * The next tokens of a session. Several requests with one token within half a minute get the same successor; an older
   * token closes the session. UNAUTHENTICATED.
   */
  refresh(refreshToken: string, userId?: string | null): Promise<SignedIn>;
  /** Closes the session of an access or refresh token; unknown tokens are ignored. `userId` must be its user: BAD_USER_INPUT. */
  revokeToken(token: string, userId?: string | null): Promise<void>;
  /** Closes one of the caller's own. NOT_FOUND. */
  revoke(caller: Caller, id: string): Promise<void>;
  /** Closes every session of a user, or the one that is named; says how many there were. NOT_FOUND for nobody, and none. */
  revokeSessions(userId: string, sessionId: string | null): Promise<number>;
  /** The open sessions of a user, newest first. */
  list(userId: string): Promise<readonly Session[]>;
  /** Whether a session is open, at most a few seconds ago. */
  isOpen(id: string): Promise<boolean>;
  /** The session of a valid access token of an open session; null otherwise. */
  findSessionId(token: string): Promise<string | null>;
}

/** A session to be opened for a verified user. */
export interface NewSession {
  readonly userId: string;
  readonly platform: PlatformName;
  readonly scope: string;
  /** The identity provider's refresh token: revoked there when the session is closed. */
  readonly providerToken: string | null;
}

/** Users. Implemented by createUserService (users.ts). */
export interface UserService {
  /** The user of an identity, created at the first sign-in; concurrent sign-ins create one. */
  linkUser(identity: PlatformIdentity, options?: { readonly joins?: Caller }): Promise<User>;
  byIds(ids: readonly string[]): Promise<readonly (User | null)[]>;
  /** Whether there is such a user: what a request may ask each time, unlike `byIds`. */
  exists(id: string): Promise<boolean>;
  /** Everybody who has signed in, newest first; one more than asked for when there are more. */
  list(request: UserListRequest): Promise<readonly User[]>;
  /** Our id of the user that a platform's subject or our own id names; the text itself when it names nobody. */
  findUserId(text: string): Promise<string>;
  /** Whether one of the user's identities is on the operator's list. */
  isAdmin(userId: string): Promise<boolean>;
  /** Deletes the caller's account: identities, sessions, the user; what they made follows (erasure). */
  deleteAccount(caller: Caller): Promise<void>;
  /** The same for a user. NOT_FOUND. */
  deletePerson(id: string): Promise<void>;
}

/** Keys of programs. Implemented by createServiceKeys (service-keys.ts). */
export interface ServiceKeyService {
  list(): Promise<readonly ServiceKey[]>;
  /** The secret is in this answer and nowhere else. BAD_USER_INPUT. */
  create(
    caller: Caller,
    key: Pick<ServiceKey, 'name' | 'scopes'> & Partial<Pick<ServiceKey, 'generators' | 'expiresAt'>>,
  ): Promise<{ readonly key: ServiceKey; readonly secret: string }>;
  /**
   * Gives a key another secret; the one before works for `graceSeconds` more. NOT_FOUND for one that is revoked or has ended too; BAD_USER_INPUT for a
   * wrong grace, and where a key would get one that may do more than it.
   */
  rotate(
    caller: Caller,
    id: string,
    graceSeconds: number,
  ): Promise<{ readonly key: ServiceKey; readonly secret: string }>;
  /** NOT_FOUND. */
  revoke(id: string): Promise<ServiceKey>;
  /** Whose secret it is, while it is neither revoked nor expired. */
  find(secret: string): Promise<ServiceKey | null>;
}
