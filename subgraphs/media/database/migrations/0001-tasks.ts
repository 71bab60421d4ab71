import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * The task engine's rows. Tasks and attempts are updated often, so their pages keep room (fillfactor) for updates that
 * touch no index; every index that a loop asks is partial, so it only holds what is still open.
 */
export const tasks: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(database);
  },
};

const statements = [
  `create table media.tasks (
    id uuid primary key,
    owner text not null,
    kind text not null,
    generator text not null,
    task_type text,
    sandbox boolean not null default false,
    input jsonb not null,
    state text not null default 'QUEUED'
      check (state in ('QUEUED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED')),
    stage text not null,
    progress integer not null default 0 check (progress between 0 and 100),
    progress_estimated boolean not null default false,
    last_seq integer not null,
    cancel_requested_at timestamptz,
    on_end text,
    error jsonb,
    result jsonb,
    events_pruned boolean not null default false,
    created_at timestamptz not null default now(),
    started_at timestamptz,
    ended_at timestamptz
  ) with (fillfactor = 70)`,
  `create index tasks_of_owner on media.tasks (owner, id desc)`,
  `create index tasks_with_old_events on media.tasks (ended_at) where ended_at is not null and not events_pruned`,

  `create table media.task_steps (
    task_id uuid not null references media.tasks (id) on delete cascade,
    step integer not null,
    label text not null,
    input jsonb not null,
    state text not null default 'QUEUED'
      check (state in ('QUEUED', 'RUNNING', 'STORING', 'SUCCEEDED', 'FAILED', 'CANCELLED')),
    binding text not null,
    progress integer not null default 0,
    finished jsonb,
    stored jsonb not null default '{}',
    store_tries integer not null default 0,
    outcome jsonb,
    started_at timestamptz,
    ended_at timestamptz,
    primary key (task_id, step)
  ) with (fillfactor = 70)`,
  `create index task_steps_in_line on media.task_steps (binding, task_id) where state = 'QUEUED'`,

  `create table media.attempts (
    task_id uuid not null references media.tasks (id) on delete cascade,
    step integer not null,
    number integer not null,
    binding text not null,
    provider text not null,
    model text,
    reference text not null unique,
    state text not null default 'STARTING'
      check (state in ('STARTING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'UNKNOWN')),
    handle jsonb,
    claim uuid,
    claimed_at timestamptz,
    running_at timestamptz,
    next_poll_at timestamptz,
    poll_failures integer not null default 0,
    error jsonb,
    started_at timestamptz not null default now(),
    ended_at timestamptz,
    primary key (task_id, step, number)
  ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05)`,
  `create index attempts_due on media.attempts (next_poll_at) where state = 'RUNNING'`,
  `create index attempts_open on media.attempts (binding) where state in ('STARTING', 'RUNNING')`,
  `create index attempts_claimed on media.attempts (claimed_at) where state = 'STARTING'`,

  // No foreign key: it would look up the task once more for each event. Only appendEvents writes here.
  `create table media.task_events (
    task_id uuid not null,
    seq integer not null,
    state text not null,
    stage text not null,
    progress integer not null,
    progress_estimated boolean not null,
    at timestamptz not null,
    primary key (task_id, seq)
  )`,

  `create table media.idempotency (
    owner text not null,
    key text not null,
    fingerprint text not null,
    task_id uuid not null references media.tasks (id) on delete cascade,
    created_at timestamptz not null default now(),
    primary key (owner, key)
  )`,
  `create index idempotency_of_task on media.idempotency (task_id)`,
];
