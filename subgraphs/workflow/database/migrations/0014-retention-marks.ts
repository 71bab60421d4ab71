import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** How far each walk through old rows has come (platform/database/passed-rows.ts). */
export const retentionMarks: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`create table workflow.retention_marks (
      what text primary key,
      until timestamptz not null default '-infinity',
      id text not null default ''
    )`.execute(database);
    await sql`comment on table workflow.retention_marks is 'how far old rows have been emptied'`.execute(
      database,
    );
  },
};
