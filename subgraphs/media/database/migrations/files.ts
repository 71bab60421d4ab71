import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Stored files. What the pruner looks for has partial indexes, which hold only the few rows it may remove. */
export const files: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    for (const statement of fileStatements) await sql.raw(statement).execute(database);
  },
};

const fileStatements = [
  `create table media.media (
    id uuid primary key,
    owner text not null,
    name text not null,
    object_key text not null,
    content_type text not null,
    bytes bigint not null,
    sha256 text not null,
    width integer,
    height integer,
    duration double precision,
    task_id uuid,
    state text not null check (state in ('INCOMING', 'STORED', 'DELETED')),
    temporary_until timestamptz,
    created_at timestamptz not null default now()
  )`,
  `create index media_of_task on media.media (task_id) where task_id is not null`,
  `create index media_temporary on media.media (temporary_until) where temporary_until is not null`,
  `create index media_deleted on media.media (id) where state = 'DELETED'`,
  `create index media_by_age on media.media (created_at)`,
];

/**
 * Files of ours that providers keep a copy of. The account is part of the key: what was uploaded with one key is not
 * there for another.
 */
export const providerResources: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    for (const statement of resourceStatements) await sql.raw(statement).execute(database);
  },
};

const resourceStatements = [
  `create table media.provider_resources (
    media_id uuid not null references media.media (id) on delete cascade,
    provider text not null,
    account text not null,
    owner text not null,
    resource_id text not null,
    uri text,
    answer jsonb not null,
    expires_at timestamptz,
    created_at timestamptz not null default now(),
    primary key (media_id, provider, account)
  )`,
  `create index provider_resources_by_uri on media.provider_resources (uri) where uri is not null`,
  `create index provider_resources_by_expiry on media.provider_resources (expires_at) where expires_at is not null`,
];

/** What each address has uploaded today without a credential, and an index to count what an owner has uploaded. */
export const uploadQuotas: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      create table media.anonymous_uploads (
        address text not null, -- of IPv6 the /64
        day date not null,
        bytes bigint not null,
        files integer not null,
        primary key (address, day)
      )`.execute(database);
    await sql`
      create index media_uploads_of_owner on media.media (owner) include (bytes)
        where task_id is null and state = 'STORED'`.execute(database);
  },
};

/** Uploads in transit, counted against the quota of their account until they are stored or refused. */
export const uploadReservations: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      create table media.upload_reservations (
        id uuid primary key, -- that of the file
        account text not null, -- an owner, or the address of a caller without a credential
        bytes bigint not null,
        renewed_at timestamptz not null default now()
      )`.execute(database);
    await sql`create index upload_reservations_of_account on media.upload_reservations (account)`.execute(
      database,
    );
  },
};

/** Files that no list shows, such as painted masks: they help one task and are nothing to look at. */
export const unlistedFiles: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`alter table media.media add column listed boolean not null default true`.execute(database);
  },
};

/** Addresses of files that their owners have passed on: an address that has no row (any more) opens nothing. */
export const shares: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`create table media.shares (
      id uuid primary key,
      media_id uuid not null references media.media (id) on delete cascade,
      owner text not null,
      created_at timestamptz not null default now(),
      ends_at timestamptz not null
    )`.execute(database);
    await sql`create index shares_owner on media.shares (owner, ends_at)`.execute(database);
    await sql`create index shares_media on media.shares (media_id)`.execute(database);
    await sql`create index shares_ends_at on media.shares (ends_at)`.execute(database);
    await sql`comment on table media.shares is 'addresses of files that were passed on and have not ended'`.execute(
      database,
    );
  },
};

/** Boards that files are put on, with the address that a board is passed on by, and stars. */
export const boards: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`create table media.boards (
      id uuid primary key,
      owner text not null,
      name text not null,
      share_id uuid unique,
      share_ends_at timestamptz,
      created_at timestamptz not null default now()
    )`.execute(database);
    await sql`create index boards_of_owner on media.boards (owner, id)`.execute(database);
    await sql`create table media.board_items (
      board_id uuid not null references media.boards (id) on delete cascade,
      media_id uuid not null references media.media (id) on delete cascade,
      added_at timestamptz not null default now(),
      primary key (board_id, media_id)
    )`.execute(database);
    await sql`create index board_items_of_media on media.board_items (media_id)`.execute(database);
    await sql`create table media.stars (
      owner text not null,
      media_id uuid not null references media.media (id) on delete cascade,
      starred_at timestamptz not null default now(),
      primary key (owner, media_id)
    )`.execute(database);
    await sql`create index stars_of_media on media.stars (media_id)`.execute(database);
    await sql`comment on table media.boards is 'boards of files, each with at most one address to be passed on'`.execute(
      database,
    );
  },
};

/** The BLAKE3 of files beside their SHA-256: clients of Comfy's API ask by it whether they have to upload at all. */
export const blake3: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`alter table media.media add column blake3 text`.execute(database);
  },
};
