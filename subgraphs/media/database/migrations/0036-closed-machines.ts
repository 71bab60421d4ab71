import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Machines of a pool that an administrator gives no new work, by their address. */
export const closedMachines: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`create table media.closed_machines (
      address text primary key,
      state text not null check (state in ('draining', 'paused')),
      reason text not null,
      closed_by text not null,
      closed_at timestamptz not null default now()
    )`.execute(database);
  },
};
