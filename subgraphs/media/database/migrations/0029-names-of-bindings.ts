import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Attempts and pauses name their binding, as ids are places in a list. Rows without a name are of the release before, which goes
 * by the ids. (Paces and states of providers are kept under names in the column that had ids.)
 */
export const namesOfBindings: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`alter table media.attempts add column binding_name text`.execute(database);
    await sql`alter table media.paused_bindings add column name text`.execute(database);
  },
};
