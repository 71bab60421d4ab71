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
