import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

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
