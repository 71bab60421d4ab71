import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * What bounds the starts of a binding besides its slots: when its requests of the last minute allow the next one. (What it
 * has finished and nobody has stored yet is counted by the index task_steps_storing.)
 */
export const roomOfBindings: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`create table media.binding_paces (
      binding text primary key,
      next_at timestamptz not null
    ) with (fillfactor = 50)`.execute(database);
  },
};
