import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Bindings that an administrator has paused: they get no new work until somebody resumes them. */
export const pausedBindings: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql
      .raw(
        `create table media.paused_bindings (
    binding text primary key,
    reason text not null,
    paused_by text not null,
    paused_at timestamptz not null default now()
  )`,
      )
      .execute(database);
  },
};
