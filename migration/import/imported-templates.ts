import type { WorkflowDatabase } from '../../subgraphs/workflow/database/database.ts';

/** Remembers templates as an import left them. */

/** Notes that an import has just written this template. */
export async function noteImported(database: WorkflowDatabase, code: string): Promise<void> {
  await database
    .insertInto('workflow.importedTemplates')
    .columns(['templateCode', 'templateUpdatedAt'])
    .expression(
      database.selectFrom('workflow.templates').select(['code', 'updatedAt']).where('code', '=', code),
    )
    .onConflict((conflict) =>
      conflict
        .column('templateCode')
        .doUpdateSet((values) => ({ templateUpdatedAt: values.ref('excluded.templateUpdatedAt') })),
    )
    .execute();
}

/** Whether an import wrote this template and nobody has changed it since. */
export async function isAsImported(database: WorkflowDatabase, code: string): Promise<boolean> {
  const row = await database
    .selectFrom('workflow.importedTemplates')
    .innerJoin('workflow.templates', (join) =>
      join
        .onRef('workflow.templates.code', '=', 'workflow.importedTemplates.templateCode')
        .onRef('workflow.templates.updatedAt', '=', 'workflow.importedTemplates.templateUpdatedAt'),
    )
    .select('workflow.templates.code')
    .where('workflow.templates.code', '=', code)
    .executeTakeFirst();
  return row !== undefined;
}
