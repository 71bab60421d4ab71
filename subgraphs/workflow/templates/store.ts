import { sql, type Selectable } from 'kysely';

import type { TemplateTable, WorkflowDatabase } from '../database/database.ts';
import type { Template, TemplateChange } from '../domain/template.ts';

/** What insertMissing needs of a template. */
export type NewTemplate = Omit<Template, 'isActive' | 'createdAt'>;

/** The SQL of templates; no rules here. */
export interface TemplateStore {
  list(options: { readonly activeOnly: boolean; readonly limit: number }): Promise<Template[]>;
  byCodes(codes: readonly string[], options: { readonly withDeleted: boolean }): Promise<Template[]>;
  count(): Promise<number>;
  /** A new one, or a deleted one made anew. A unique violation when the code is taken. */
  insert(template: NewTemplate): Promise<Template>;
  /** Null when there is none. */
  update(code: string, change: TemplateChange): Promise<Template | null>;
  remove(code: string): Promise<Template | null>;
  /** Adds those whose code was never there; changes none. */
  insertMissing(templates: readonly NewTemplate[]): Promise<void>;
}

/** A store over the workflow schema's templates. */
export function createTemplateStore(database: WorkflowDatabase): TemplateStore {
  const all = () => database.selectFrom('workflow.templates').selectAll().orderBy('code');
  const living = () => all().where('deleted_at', 'is', null);
  return {
    async list({ activeOnly, limit }) {
      const query = activeOnly ? living().where('is_active', '=', true) : living();
      return (await query.limit(limit).execute()).map(templateOf);
    },
    async byCodes(codes, { withDeleted }) {
      if (codes.length === 0) return [];
      const rows = await (withDeleted ? all() : living()).where('code', 'in', [...codes]).execute();
      return rows.map(templateOf);
    },
    async count() {
      const row = await database
        .selectFrom('workflow.templates')
        .select(sql<number>`count(*)`.as('total'))
        .where('deleted_at', 'is', null)
        .executeTakeFirstOrThrow();
      return row.total;
    },
    insert: (template) => insert(database, template),
    update: (code, change) => update(database, code, change),
    async remove(code) {
      const row = await database
        .updateTable('workflow.templates')
        .set({ deleted_at: sql<Date>`now()`, is_active: false, updated_at: sql<Date>`now()` })
        .where('code', '=', code)
        .where('deleted_at', 'is', null)
        .returningAll()
        .executeTakeFirst();
      return row === undefined ? null : templateOf(row);
    },
    async insertMissing(templates) {
      if (templates.length === 0) return;
      await database
        .insertInto('workflow.templates')
        .values(templates.map(rowOf))
        .onConflict((conflict) => conflict.column('code').doNothing())
        .execute();
    },
  };
}

async function insert(database: WorkflowDatabase, template: NewTemplate): Promise<Template> {
  const { code, ...values } = rowOf(template);
  const revived = await database
    .updateTable('workflow.templates')
    .set({
      ...values,
      is_active: true,
      deleted_at: null,
      created_at: sql<Date>`now()`,
      updated_at: sql<Date>`now()`,
    })
    .where('code', '=', code)
    .where('deleted_at', 'is not', null)
    .returningAll()
    .executeTakeFirst();
  if (revived !== undefined) return templateOf(revived);
  const row = await database
    .insertInto('workflow.templates')
    .values({ code, ...values })
    .returningAll()
    .executeTakeFirstOrThrow();
  return templateOf(row);
}

/** What is null or absent stays as it was. */
async function update(
  database: WorkflowDatabase,
  code: string,
  { name, description, creditCost, isActive }: TemplateChange,
): Promise<Template | null> {
  const row = await database
    .updateTable('workflow.templates')
    .set({
      ...(name === null || name === undefined ? {} : { name }),
      ...(description === null || description === undefined ? {} : { description }),
      ...(creditCost === null || creditCost === undefined ? {} : { credit_cost: creditCost }),
      ...(isActive === null || isActive === undefined ? {} : { is_active: isActive }),
      updated_at: sql<Date>`now()`,
    })
    .where('code', '=', code)
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? null : templateOf(row);
}

function rowOf(template: NewTemplate) {
  return {
    code: template.code,
    name: template.name,
    description: template.description,
    workflow: template.workflow,
    credit_cost: template.creditCost,
    version: template.version,
    template_type: template.templateType,
    tags: [...template.tags],
    image_model: template.imageModel,
    image_prompt: template.imagePrompt,
    parameters: JSON.stringify(template.parameters),
  };
}

function templateOf(row: Selectable<TemplateTable>): Template {
  return {
    code: row.code,
    name: row.name,
    description: row.description,
    workflow: row.workflow,
    creditCost: row.credit_cost,
    version: row.version,
    templateType: row.template_type,
    tags: row.tags,
    imageModel: row.image_model,
    imagePrompt: row.image_prompt,
    parameters: row.parameters,
    isActive: row.is_active,
    createdAt: row.created_at,
  };
}
