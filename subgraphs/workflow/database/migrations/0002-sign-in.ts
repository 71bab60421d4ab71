import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Users, what platforms know them as, their sessions; the keys that sign access tokens; service keys. */
export const signIn: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await createUsers(database);
    await createKeys(database);
  },
};

async function createUsers(database: Kysely<unknown>): Promise<void> {
  await sql`
      create table workflow.users (
        id text primary key, -- usr_...
        email text,
        name text,
        picture text,
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now()
      )`.execute(database);
  // What a platform knows a user as. One user may have several; they are never joined by e-mail.
  await sql`
      create table workflow.platform_users (
        platform text not null,
        app_id text not null, -- the mini-program, or the issuer of an identity provider
        subject text not null,
        user_id text not null references workflow.users (id) on delete cascade,
        union_id text, -- the same person in several apps of one owner
        sealed_secret text, -- the platform's secret of this person, encrypted
        linked_at timestamptz not null default now(),
        last_login_at timestamptz not null default now(),
        primary key (platform, app_id, subject)
      )`.execute(database);
  await sql`create index platform_users_user on workflow.platform_users (user_id)`.execute(database);
  await sql`
      create index platform_users_union on workflow.platform_users (platform, union_id)
      where union_id is not null`.execute(database);
  // Refresh tokens are made from generation and salt: nothing usable is stored.
  await sql`
      create table workflow.sessions (
        id text primary key, -- ses_...
        user_id text not null references workflow.users (id) on delete cascade,
        platform text not null,
        scope text not null,
        generation integer not null default 1,
        salt text not null,
        sealed_provider_token text, -- the identity provider's refresh token, encrypted
        created_at timestamptz not null default now(),
        rotated_at timestamptz not null default now(),
        expires_at timestamptz not null,
        revoked_at timestamptz
      ) with (fillfactor = 85)`.execute(database);
  await sql`create index sessions_user on workflow.sessions (user_id, created_at desc)`.execute(database);
  await sql`create index sessions_expiry on workflow.sessions (expires_at)`.execute(database);
}

async function createKeys(database: Kysely<unknown>): Promise<void> {
  // Codes that an app exchanges once for a session, within a minute.
  await sql`
      create table workflow.login_codes (
        code_hash text primary key, -- sha256
        user_id text not null references workflow.users (id) on delete cascade,
        platform text not null,
        scope text not null,
        challenge text, -- S256 (PKCE) of an app that proves that it asked for the code
        sealed_provider_token text,
        expires_at timestamptz not null
      )`.execute(database);
  // One key signs, the next is published ahead, the last until its tokens have ended.
  await sql`
      create table workflow.signing_keys (
        kid text primary key,
        public_jwk jsonb not null,
        sealed_private_jwk text not null,
        signs_from timestamptz not null,
        signs_until timestamptz not null,
        published_until timestamptz not null
      )`.execute(database);
  // Keys of programs. The secret itself is shown once and not stored.
  await sql`
      create table workflow.service_keys (
        id text primary key, -- key_...
        name text not null,
        scopes text[] not null,
        secret_sha256 text not null unique,
        created_by text not null,
        created_at timestamptz not null default now(),
        last_used_at timestamptz,
        revoked_at timestamptz
      )`.execute(database);
}
