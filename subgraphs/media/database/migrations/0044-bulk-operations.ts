import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** What is done to all tasks that match a filter: how far it is, and what was refused. */
export const bulkOperations: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`create table media.bulk_operations (
      id uuid primary key,
      owner text not null,
      listed_owner text,
      action text not null,
      filter jsonb not null,
      state text not null default 'RUNNING',
      total integer not null,
      done integer not null default 0,
      refused integer not null default 0,
      problem text,
      last_task_id uuid,
      trace_id text not null,
      created_at timestamptz not null default now(),
      ended_at timestamptz
    )`.execute(database);
    await sql`create index bulk_operations_of_owner on media.bulk_operations (owner, id desc)`.execute(
      database,
    );
    await sql`comment on table media.bulk_operations is 'operations on all tasks that match a filter; listed_owner is null for everybody''s'`.execute(
      database,
    );
  },
};
