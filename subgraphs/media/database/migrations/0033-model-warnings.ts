import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Warnings of models that were published, so that one of several processes does it, and not again after its deliveries are deleted. */
export const modelWarnings: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`create table media.model_warnings (
      warning text primary key,
      warned_at timestamptz not null default now()
    )`.execute(database);
  },
};
