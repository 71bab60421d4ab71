import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Whether a call of a batch is made at the usual price, as there was no room at half of it: after a crash it is not begun at both. */
export const flexLines: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`alter table gateway.batch_lines add column has_left_flex boolean not null default false`.execute(
      database,
    );
  },
};
