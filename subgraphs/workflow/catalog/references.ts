import { sql } from 'kysely';

import type { WorkflowDatabase } from '../database/database.ts';

/** The provider's ids of a template. */
export interface TemplateReference {
  readonly productId: string;
  readonly priceId: string;
  /** Of what was last written there. */
  readonly contentHash: string;
  readonly syncedAt: Date;
}

/** What is kept of each template for one account of the provider, by code. */
export async function readReferences(
  database: WorkflowDatabase,
  account: string,
  codes: readonly string[],
): Promise<ReadonlyMap<string, TemplateReference>> {
  const rows = await database
    .selectFrom('workflow.template_references')
    .selectAll()
    .where('pp_account', '=', account)
    .where('template_code', 'in', [...codes])
    .execute();
  return new Map(
    rows.map((row) => [
      row.template_code,
      {
        productId: row.product_id,
        priceId: row.price_id,
        contentHash: row.content_hash,
        syncedAt: row.synced_at,
      },
    ]),
  );
}

/** Keeps the ids that a template has at one account of the provider. */
export async function saveReference(
  database: WorkflowDatabase,
  {
    code,
    account,
    reference,
  }: { readonly code: string; readonly account: string; readonly reference: TemplateReference },
): Promise<void> {
  const { productId, priceId, contentHash, syncedAt } = reference;
  const values = { product_id: productId, price_id: priceId, content_hash: contentHash, synced_at: syncedAt };
  await database
    .insertInto('workflow.template_references')
    .values({ template_code: code, pp_account: account, ...values })
    .onConflict((conflict) =>
      conflict.columns(['template_code', 'pp_account']).doUpdateSet({
        ...values,
        synced_at: sql<Date>`greatest(template_references.synced_at, excluded.synced_at)`,
      }),
    )
    .execute();
}
