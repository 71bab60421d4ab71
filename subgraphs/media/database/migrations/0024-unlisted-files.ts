import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Files that no list shows, such as painted masks: they help one task and are nothing to look at. */
export const unlistedFiles: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`alter table media.media add column listed boolean not null default true`.execute(database);
  },
};
