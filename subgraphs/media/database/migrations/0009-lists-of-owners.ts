import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** What is listed by owner: files newest first, and the tasks that have not ended, which subscriptions look for. */
export const listsOfOwners: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      create index media_of_owner on media.media (owner, id desc)
        where state = 'STORED' and temporary_until is null`.execute(database);
    await sql`create index tasks_open_of_owner on media.tasks (owner, id desc) where ended_at is null`.execute(
      database,
    );
  },
};
