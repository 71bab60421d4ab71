import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** When the last caller of a running reply went away: the same request again joins it. */
export const leftReplies: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`alter table media.chat_replies add column left_at timestamptz`.execute(database);
  },
};
