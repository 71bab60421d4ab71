import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * The hash of an attempt's handle: its unique index (`attempts_handle`) lets one upstream account answer a handle once. What the
 * release before has written has none, so that the index can be built over whatever is there.
 */
export const handlesOfAttempts: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`alter table media.attempts add column handle_hash uuid`.execute(database);
  },
};
