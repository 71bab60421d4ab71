import { sql, type Selectable } from 'kysely';

import type { TemplateTable, WorkflowDatabase } from '../database.ts';
import type { Template } from './template.ts';

/** What insertMissing needs of a template. */
export type NewTemplate = Omit<Template, 'isActive' | 'createdAt'>;

/** The SQL of templates; no rules here. */
export interface TemplateStore {
  list(options: { readonly activeOnly: boolean; readonly limit: number }): Promise<Template[]>;
  byCodes(codes: readonly string[]): Promise<Template[]>;
  count(): Promise<number>;
  /** Adds those whose code is not taken; changes none. */
  insertMissing(templates: readonly NewTemplate[]): Promise<void>;
}

/** A store over the workflow schema's templates. */
export function createTemplateStore(database: WorkflowDatabase): TemplateStore {
  const all = () => database.selectFrom('workflow.templates').selectAll().orderBy('code');
  return {
    async list({ activeOnly, limit }) {
      const query = activeOnly ? all().where('is_active', '=', true) : all();
      return (await query.limit(limit).execute()).map(templateOf);
    },
    async byCodes(codes) {
      if (codes.length === 0) return [];
      const rows = await all()
        .where('code', 'in', [...codes])
        .execute();
      return rows.map(templateOf);
    },
    async count() {
      const row = await database
        .selectFrom('workflow.templates')
        .select(sql<number>`count(*)`.as('total'))
        .executeTakeFirstOrThrow();
      return row.total;
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
