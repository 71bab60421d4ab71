import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** A service key whose secret was replaced: the one before works until a moment. */
export const rotatedKeys: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`alter table workflow.service_keys
      add column former_sha256 text,
      add column former_until timestamptz`.execute(database);
  },
};
