import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** The trace of the request that bought or started it, as W3C traceparent; its work goes on in it. */
export const traces: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    for (const table of ['payments', 'executions']) {
      await sql`alter table ${sql.table(`workflow.${table}`)} add column traceparent text`.execute(database);
    }
  },
};
