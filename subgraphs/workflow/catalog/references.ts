import { sql, type Selectable } from 'kysely';

import type { WorkflowDatabase } from '../database/database.ts';
import type { WorkflowTemplateReference } from '../database/tables.ts';

/** The provider's ids of a template; `contentHash` is of what was last written there. */
export type TemplateReference = Readonly<
  Omit<Selectable<WorkflowTemplateReference>, 'templateCode' | 'ppAccount'>
>;

/** The ids of templates at one account of the provider, by code. */
export async function readReferences(
  database: WorkflowDatabase,
  account: string,
  codes: readonly string[],
): Promise<ReadonlyMap<string, TemplateReference>> {
  const rows = await database
    .selectFrom('workflow.templateReferences')
    .selectAll()
    .where('ppAccount', '=', account)
    .where('templateCode', 'in', codes)
    .execute();
  return new Map(rows.map((row) => [row.templateCode, row]));
}

/** Writes the ids that a template has at one account of the provider. */
export async function saveReference(
  database: WorkflowDatabase,
  row: Selectable<WorkflowTemplateReference>,
): Promise<void> {
  const { templateCode: _code, ppAccount: _account, ...values } = row;
  await database
    .insertInto('workflow.templateReferences')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['templateCode', 'ppAccount']).doUpdateSet({
        ...values,
        syncedAt: sql<Date>`greatest(template_references.synced_at, excluded.synced_at)`,
      }),
    )
    .execute();
}
