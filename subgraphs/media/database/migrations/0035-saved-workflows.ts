import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * ComfyUI graphs that callers have saved under names, version by version. `published` is the version that everybody may run,
 * `previous` the one that was published before it. Not jsonb, which would lose the order of inputs.
 */
export const savedWorkflows: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`create table media.workflows (
      name text primary key,
      owner text not null,
      description text not null,
      category text not null,
      newest integer not null,
      published integer,
      previous integer,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`.execute(database);
    await sql`create index workflows_of_owner on media.workflows (owner)`.execute(database);
    await sql`create table media.workflow_versions (
      name text not null references media.workflows (name) on delete cascade,
      number integer not null,
      graph json not null,
      inputs json not null,
      outputs json not null,
      created_at timestamptz not null default now(),
      primary key (name, number)
    )`.execute(database);
    await sql`comment on table media.workflow_versions is
      'graphs that never change once saved; tasks keep copies of their own'`.execute(database);
  },
};
