import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** The trace in which a task was submitted, as W3C traceparent; its work goes on in it. */
export const traces: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`alter table media.tasks add column traceparent text`.execute(database);
  },
};
