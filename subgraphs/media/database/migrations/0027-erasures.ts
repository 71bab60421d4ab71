import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Owners whose tasks, files and chats are to be erased; a row goes when nothing of theirs is left. */
export const erasures: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`create table media.erasures (
      owner text primary key,
      requested_at timestamptz not null default now()
    )`.execute(database);
    await sql`comment on table media.erasures is 'owners whose things are being erased'`.execute(database);
  },
};
