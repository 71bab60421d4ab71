import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** What a checkout was opened with: part of the idempotent call to the provider, so it never changes. */
export const checkoutPages: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      alter table workflow.payments
        add column success_url text, -- the shop's own pages, where it has them
        add column cancel_url text,
        add column buyer_email text`.execute(database);
  },
};
