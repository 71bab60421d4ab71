import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { MigrationSet } from '../database/migrations.ts';

const jobs: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    // One row per declared queue, with how its failed jobs are retried.
    await sql`
      create table queue.queues (
        name text primary key,
        retry_limit integer not null,
        retry_delay float8 not null, -- seconds before the first retry
        retry_delay_max float8 not null -- seconds, where doubling ends
      )`.execute(database);
    // A job waits, is active under a lease, then has ended. Rows change often, so dead ones are vacuumed early.
    await sql`
      create table queue.jobs (
        id uuid primary key,
        queue text not null,
        data jsonb not null,
        owner text collate "C" not null default '-', -- '-' is nobody, who has turns like an owner
        kind text collate "C" not null default '-',
        state text not null default 'waiting' check (state in ('waiting', 'active', 'completed', 'failed')),
        due_at timestamptz not null default now(),
        retries integer not null default 0,
        claims integer not null default 0, -- counts claims: a worker that lost its claim holds an old number
        lease_ends_at timestamptz, -- while active
        error text, -- of the last failure
        created_at timestamptz not null default now(),
        ended_at timestamptz
      ) with (autovacuum_vacuum_scale_factor = 0.02)`.execute(database);
    await sql`create index jobs_waiting on queue.jobs (queue, owner, kind, created_at, due_at)
      where state = 'waiting'`.execute(database);
    await sql`create index jobs_active on queue.jobs (queue) where state = 'active'`.execute(database);
    await sql`create index jobs_ended on queue.jobs (ended_at) where ended_at is not null`.execute(database);
  },
};

/** The tables of the job queue, which all subgraphs share. */
export const queueMigrations: MigrationSet = { schema: 'queue', migrations: { '0001-jobs': jobs } };
