import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

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
