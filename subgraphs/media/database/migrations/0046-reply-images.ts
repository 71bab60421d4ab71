import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** The images that a language model made, beside the text of its stored reply. */
export const replyImages: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`alter table media.chat_replies add column media_ids uuid[] not null default '{}'`.execute(
      database,
    );
  },
};
