import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Which process follows a running attempt over the upstream's own stream, and until when it may be taken for alive. */
export const watchers: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`alter table media.attempts add column watcher uuid, add column watched_until timestamptz`.execute(
      database,
    );
  },
};
