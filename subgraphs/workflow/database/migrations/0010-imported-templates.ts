import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Which templates an import wrote, so that another run does not undo what was changed by hand since. */
export const importedTemplates: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      create table workflow.imported_templates (
        template_code text primary key references workflow.templates (code) on delete cascade,
        template_updated_at timestamptz not null -- as the import left the template
      )`.execute(database);
  },
};
