import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Whether a task is what somebody has bought: its cost is the seller's, and so are the budgets that it counts against. */
export const soldTasks: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`alter table media.tasks add column sold boolean not null default false`.execute(database);
  },
};
