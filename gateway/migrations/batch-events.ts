import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Whether the end of a batch was told to webhook endpoints: one that ended in a crash is told by whoever goes on. */
export const batchEvents: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`alter table gateway.batches add column is_announced boolean not null default false`.execute(
      database,
    );
    await sql`update gateway.batches set is_announced = true where ended_at is not null`.execute(database);
    await sql`create index batches_unannounced on gateway.batches (created_at) where not is_announced`.execute(
      database,
    );
  },
};
