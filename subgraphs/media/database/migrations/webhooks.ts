import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Where a task's end is to be told, and what became of telling it. */
export const webhookDeliveries: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`alter table media.tasks add column callback_url text`.execute(database);
    // One row per task: its id is the webhook-id for ever, so a task's end can never go out under two.
    await sql`create table media.webhook_deliveries (
      id uuid primary key,
      task_id uuid not null unique references media.tasks (id) on delete cascade,
      url text not null,
      state text not null default 'PENDING' check (state in ('PENDING', 'DELIVERED', 'GIVEN_UP')),
      round integer not null default 1,
      tries integer not null default 0,
      attempts integer not null default 0,
      next_attempt_at timestamptz,
      touched_at timestamptz not null default now(),
      delivered_at timestamptz,
      last_status integer,
      last_error text,
      created_at timestamptz not null default now()
    )`.execute(database);
    // Pruning goes by age.
    await sql`create index webhook_deliveries_by_age on media.webhook_deliveries (created_at)`.execute(
      database,
    );
  },
};

/** What the sweep of webhooks looks for: deliveries that are not over. */
export const pendingWebhooks: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`create index webhook_deliveries_pending on media.webhook_deliveries (id) where state = 'PENDING'`.execute(
      database,
    );
  },
};

/**
 * Addresses of the operator that hear of events. A delivery is of a task's end to its own address, of a task's end to an
 * endpoint, or of another event, which it keeps, to an endpoint. Secrets are derived from their version, not stored.
 */
export const webhookEndpoints: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    for (const statement of endpointStatements) await sql.raw(statement).execute(database);
  },
};

const endpointStatements = [
  `create table media.webhook_endpoints (
    id uuid primary key,
    url text not null,
    description text not null,
    event_types text[] not null,
    secret_version integer not null default 1,
    rotated_at timestamptz,
    created_at timestamptz not null default now()
  )`,
  `alter table media.webhook_deliveries
    alter column task_id drop not null,
    drop constraint webhook_deliveries_task_id_key,
    add column endpoint_id uuid references media.webhook_endpoints (id) on delete cascade,
    add column event_id text,
    add column event jsonb,
    add constraint webhook_deliveries_check check (endpoint_id is null and task_id is not null and event is null
      or endpoint_id is not null and event_id is not null) not valid`,
  // What was last said of each provider, so that one of several processes says it.
  `create table media.provider_states (
    binding text primary key,
    is_away boolean not null,
    since timestamptz not null default now()
  )`,
];
