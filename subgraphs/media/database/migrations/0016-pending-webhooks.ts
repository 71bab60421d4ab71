import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** What the sweep of webhooks looks for: deliveries that are not over. */
export const pendingWebhooks: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`create index webhook_deliveries_pending on media.webhook_deliveries (id) where state = 'PENDING'`.execute(
      database,
    );
  },
};
