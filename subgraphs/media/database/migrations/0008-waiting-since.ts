import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Since when a step waits: for its start, or for its result to be stored. Steps of an older version count from now. The
 * index holds open steps alone, for the sweep that compares them with their jobs.
 */
export const waitingSince: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`alter table media.task_steps add column waiting_since timestamptz not null default now()`.execute(
      database,
    );
    await sql`create index task_steps_open on media.task_steps (task_id, step)
      where state in ('QUEUED', 'RUNNING', 'STORING')`.execute(database);
  },
};
