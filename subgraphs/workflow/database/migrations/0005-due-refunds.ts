import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** What a sweep looks for when a job was lost: refunds that are due, and executions that were not started. */
export const dueRefunds: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    // Set with the end of a failed execution, cleared when it is refunded or decided otherwise.
    await sql`alter table workflow.payments add column refund_due boolean not null default false`.execute(
      database,
    );
    await sql`create index payments_refund_due on workflow.payments (id) where refund_due`.execute(database);
    await sql`
      create index executions_pending on workflow.executions (id) where status = 'PENDING'`.execute(database);
  },
};
