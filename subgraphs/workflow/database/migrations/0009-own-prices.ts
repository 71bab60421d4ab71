import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Prices of single templates, and what a checkout was opened with. (Lists of sales by template have an index in index.ts.) */
export const ownPrices: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      alter table workflow.templates
        add column price integer, -- minor units; null: credit_cost times the price of a credit
        add column currency text -- lower case; null: the usual one`.execute(database);
    // Part of the idempotent call to the provider, so they never change.
    await sql`
      alter table workflow.payments
        add column receipts boolean not null default false,
        add column tax boolean not null default false,
        add column promotion_codes boolean not null default false`.execute(database);
  },
};
