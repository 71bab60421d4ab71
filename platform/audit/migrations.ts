import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { MigrationSet } from '../database/migrations.ts';

/** Rows are added only: a trigger refuses to change them, and to remove any but those that the retention ends. */
const entries: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      create table audit.entries (
        id bigint generated always as identity primary key,
        at timestamptz not null default now(),
        caller text not null, -- anon, usr_..., key_...
        address text,
        what text not null,
        target text,
        trace_id text not null
      )`.execute(database);
    await sql`create index entries_at on audit.entries (at)`.execute(database);
    await sql`
      create function audit.refuse_change() returns trigger language plpgsql as $$
      begin
        if tg_op = 'DELETE' and current_setting('audit.pruning', true) = 'on' then return old; end if;
        raise exception 'audit entries are not changed';
      end $$`.execute(database);
    await sql`
      create trigger append_only before update or delete on audit.entries
        for each row execute function audit.refuse_change()`.execute(database);
    await sql`
      create trigger no_truncate before truncate on audit.entries
        for each statement execute function audit.refuse_change()`.execute(database);
  },
};

/** The migrations of the audit log, which all subgraphs share. */
export const auditMigrations: MigrationSet = {
  schema: 'audit',
  migrations: { '0001-entries': entries },
  indexes: {
    entries_by_caller: 'audit.entries (caller, id desc)',
    entries_by_what: 'audit.entries (what, id desc)',
    entries_of_changes: `audit.entries (id desc) where what not like 'read %'`,
  },
};
