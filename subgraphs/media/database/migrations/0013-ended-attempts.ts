import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** The health of providers is asked for by binding and the time of ends. */
export const endedAttempts: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`create index attempts_ended on media.attempts (ended_at desc, binding) where ended_at is not null`.execute(
      database,
    );
  },
};
