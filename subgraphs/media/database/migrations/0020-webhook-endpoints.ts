import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Addresses of the operator that hear of events. A delivery is of a task's end to its own address, of a task's end to an
 * endpoint, or of another event, which it keeps, to an endpoint. Secrets are derived from their version, not stored.
 */
export const webhookEndpoints: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(database);
  },
};

const statements = [
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
