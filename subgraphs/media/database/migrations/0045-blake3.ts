import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** The BLAKE3 of files beside their SHA-256: clients of Comfy's API ask by it whether they have to upload at all. */
export const blake3: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`alter table media.media add column blake3 text`.execute(database);
  },
};
