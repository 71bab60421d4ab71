import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Whether an execution was bought: what it costs is then the seller's, and the buyer's own budgets do not bound it. */
export const soldExecutions: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`alter table workflow.executions add column sold boolean not null default false`.execute(
      database,
    );
  },
};
