import { sql } from 'kysely';

import type { WorkflowDatabase } from '../database/database.ts';
import type { Template, TemplateListOptions } from '../domain/template.ts';

/** A template to be inserted. */
export type NewTemplate = Omit<Template, 'isActive' | 'createdAt'>;

/** The SQL of templates; no rules here. */
export type TemplateStore = ReturnType<typeof createTemplateStore>;

/** A store over the workflow schema's templates. */
export function createTemplateStore(database: WorkflowDatabase) {
  const all = () => database.selectFrom('workflow.templates').selectAll().orderBy('code');
  const living = () => all().where('deletedAt', 'is', null);
  return {
    list({
      activeOnly,
      limit,
      after = null,
    }: TemplateListOptions & { readonly limit: number }): Promise<Template[]> {
      const query = activeOnly ? living().where('isActive', '=', true) : living();
      return (after === null ? query : query.where('code', '>', after)).limit(limit).execute();
    },
    async byCodes(
      codes: readonly string[],
      { withDeleted }: { readonly withDeleted: boolean },
    ): Promise<Template[]> {
      if (codes.length === 0) return [];
      return (withDeleted ? all() : living()).where('code', 'in', codes).execute();
    },
    async count({ activeOnly }: { readonly activeOnly: boolean }): Promise<number> {
      const row = await database
        .selectFrom('workflow.templates')
        .select(sql<number>`count(*)`.as('total'))
        .where('deletedAt', 'is', null)
        .$if(activeOnly, (query) => query.where('isActive', '=', true))
        .executeTakeFirstOrThrow();
      return row.total;
    },
    /** Inserts a template, or revives a deleted one. A unique violation when the code is taken. */
    insert: (template: NewTemplate) => insert(database, template),
    /** Null when there is none. */
    update: (code: string, change: Partial<Template>) => update(database, code, change),
    async remove(code: string): Promise<Template | null> {
      const row = await database
        .updateTable('workflow.templates')
        .set({ deletedAt: sql<Date>`now()`, isActive: false, updatedAt: sql<Date>`now()` })
        .where('code', '=', code)
        .where('deletedAt', 'is', null)
        .returningAll()
        .executeTakeFirst();
      return row ?? null;
    },
    /** Inserts those whose code never existed; changes none. */
    async insertMissing(templates: readonly NewTemplate[]): Promise<void> {
      await database
        .insertInto('workflow.templates')
        .values(templates.map(toRow))
        .onConflict((conflict) => conflict.column('code').doNothing())
        .execute();
    },
  };
}

async function insert(database: WorkflowDatabase, template: NewTemplate): Promise<Template> {
  const { code, ...values } = toRow(template);
  const revived = await database
    .updateTable('workflow.templates')
    .set({
      ...values,
      isActive: true,
      deletedAt: null,
      createdAt: sql<Date>`now()`,
      updatedAt: sql<Date>`now()`,
    })
    .where('code', '=', code)
    .where('deletedAt', 'is not', null)
    .returningAll()
    .executeTakeFirst();
  if (revived !== undefined) return revived;
  return database
    .insertInto('workflow.templates')
    .values({ code, ...values })
    .returningAll()
    .executeTakeFirstOrThrow();
}

async function update(
  database: WorkflowDatabase,
  code: string,
  { tags, parameters, ...change }: Partial<Template>,
): Promise<Template | null> {
  const row = await database
    .updateTable('workflow.templates')
    .set({
      ...change,
      ...(tags === undefined ? {} : { tags: [...tags] }),
      ...(parameters === undefined ? {} : { parameters: JSON.stringify(parameters) }),
      updatedAt: sql<Date>`now()`,
    })
    .where('code', '=', code)
    .where('deletedAt', 'is', null)
    .returningAll()
    .executeTakeFirst();
  return row ?? null;
}

function toRow({ tags, parameters, ...template }: NewTemplate) {
  return { ...template, tags: [...tags], parameters: JSON.stringify(parameters) };
}
