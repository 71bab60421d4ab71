import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Stored files. What the pruner looks for has partial indexes, which hold only the few rows it may remove. */
export const files: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(database);
  },
};

const statements = [
  `create table media.media (
    id uuid primary key,
    owner text not null,
    name text not null,
    object_key text not null,
    content_type text not null,
    bytes bigint not null,
    sha256 text not null,
    width integer,
    height integer,
    duration double precision,
    task_id uuid,
    state text not null check (state in ('INCOMING', 'STORED', 'DELETED')),
    temporary_until timestamptz,
    created_at timestamptz not null default now()
  )`,
  `create index media_of_task on media.media (task_id) where task_id is not null`,
  `create index media_temporary on media.media (temporary_until) where temporary_until is not null`,
  `create index media_deleted on media.media (id) where state = 'DELETED'`,
  `create index media_by_age on media.media (created_at)`,
];
