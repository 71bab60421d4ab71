import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * An attempt names its upstream and account, as positions of bindings change; and steps and attempts say since when no process
 * has known their binding.
 */
export const upstreamsOfAttempts: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`alter table media.attempts add column upstream text, add column unknown_since timestamptz`.execute(
      database,
    );
    await sql`alter table media.task_steps add column unknown_since timestamptz`.execute(database);
  },
};
