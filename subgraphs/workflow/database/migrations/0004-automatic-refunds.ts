import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Refunds that nobody asked for: at most one per payment that the provider has not refused. */
export const automaticRefunds: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`alter table workflow.refunds add column automatic boolean not null default false`.execute(
      database,
    );
    await sql`
      create unique index refunds_automatic on workflow.refunds (payment_id)
      where automatic and status <> 'refused'`.execute(database);
  },
};
