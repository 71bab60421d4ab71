import type { JWK } from 'jose';
import type { Generated, JSONColumnType } from 'kysely';

/** Somebody who has signed in. */
interface UserTable {
  /** `usr_...` */
  readonly id: string;
  readonly email: string | null;
  readonly name: string | null;
  readonly picture: string | null;
  readonly created_at: Generated<Date>;
  readonly updated_at: Generated<Date>;
}

/** What a platform knows a user as. One user may have several; they are never joined by e-mail. */
interface PlatformUserTable {
  readonly platform: string;
  /** The mini-program, or the issuer of an identity provider: a subject means nothing without it. */
  readonly app_id: string;
  readonly subject: string;
  readonly user_id: string;
  /** The same person in several apps of one owner, where the platform tells. */
  readonly union_id: string | null;
  /** The platform's own secret of this person, sealed; never given out. */
  readonly sealed_secret: string | null;
  readonly linked_at: Generated<Date>;
  readonly last_login_at: Generated<Date>;
}

/** A sign-in that lasts. Its refresh tokens are made from generation and salt; nothing usable is stored. */
export interface SessionTable {
  /** `ses_...` */
  readonly id: string;
  readonly user_id: string;
  readonly platform: string;
  /** Separated by blanks. */
  readonly scope: string;
  readonly generation: Generated<number>;
  readonly salt: string;
  /** The identity provider's refresh token, sealed. */
  readonly sealed_provider_token: string | null;
  readonly created_at: Generated<Date>;
  readonly rotated_at: Generated<Date>;
  readonly expires_at: Date;
  readonly revoked_at: Date | null;
}

/** Codes that an app exchanges once for a session, within a minute. */
interface LoginCodeTable {
  /** sha256 of the code. */
  readonly code_hash: string;
  readonly user_id: string;
  readonly platform: string;
  readonly scope: string;
  /** Of an app that proves by a verifier that it is the one that asked. */
  readonly challenge: string | null;
  readonly sealed_provider_token: string | null;
  readonly expires_at: Date;
}

/** Keys that sign access tokens: one signs, the next is published ahead, the last is published until its tokens have ended. */
interface SigningKeyTable {
  readonly kid: string;
  readonly public_jwk: JSONColumnType<JWK>;
  readonly sealed_private_jwk: string;
  readonly signs_from: Date;
  readonly signs_until: Date;
  readonly published_until: Date;
}

/** Keys of programs. The secret itself is shown once and not kept. */
export interface ServiceKeyTable {
  /** `key_...` */
  readonly id: string;
  readonly name: string;
  readonly scopes: string[];
  readonly secret_sha256: string;
  readonly created_by: string;
  readonly created_at: Generated<Date>;
  readonly last_used_at: Date | null;
  readonly revoked_at: Date | null;
}

/** The tables of signing in, in the "workflow" schema. */
export interface SignInTables {
  readonly 'workflow.users': UserTable;
  readonly 'workflow.platform_users': PlatformUserTable;
  readonly 'workflow.sessions': SessionTable;
  readonly 'workflow.login_codes': LoginCodeTable;
  readonly 'workflow.signing_keys': SigningKeyTable;
  readonly 'workflow.service_keys': ServiceKeyTable;
}
