import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Tool calls of a stored reply; null when it has none. */
export const chatToolCalls: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`alter table media.chat_replies add column tool_calls jsonb`.execute(database);
  },
};
