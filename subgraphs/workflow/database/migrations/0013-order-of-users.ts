import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** The order of the list of users: a page of it reads no more than its own rows. */
export const orderOfUsers: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`create index users_newest on workflow.users (created_at desc, id desc)`.execute(database);
  },
};
