import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Refunds that were made on the provider's own pages are listed too; they may have no reason. */
export const refundsOfTheProvider: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`alter table workflow.refunds alter column reason drop not null`.execute(database);
  },
};
