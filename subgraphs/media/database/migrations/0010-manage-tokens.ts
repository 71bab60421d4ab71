import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * The hash of the token that deletes files of callers without a credential: of an upload on its own row, of a
 * submission on the task's, from where the files that it makes take it. Null: nobody has one.
 */
export const manageTokens: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`alter table media.media add column manage_token_hash text`.execute(database);
    await sql`alter table media.tasks add column manage_token_hash text`.execute(database);
  },
};
