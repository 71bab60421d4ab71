import { sql } from 'kysely';

import { idempotencyConflict, type IdempotencyRecord } from '../../../platform/access/idempotency.ts';
import type { WorkflowDatabase, WorkflowTransaction } from '../database/database.ts';

/** The execution this key was used for, or null. IDEMPOTENCY_CONFLICT when it was used for another request. */
export async function executionOfKey(
  database: WorkflowDatabase,
  guard: IdempotencyRecord,
): Promise<string | null> {
  const row = await database
    .selectFrom('workflow.idempotency')
    .select(['fingerprint', 'executionId'])
    .where('owner', '=', guard.owner)
    .where('key', '=', guard.key)
    .executeTakeFirst();
  if (row === undefined) return null;
  if (row.fingerprint === guard.fingerprint) return row.executionId;
  throw idempotencyConflict();
}

/** Records the key of an execution, in its transaction; a unique violation means that another request was first. */
export async function insertKey(
  transaction: WorkflowTransaction,
  guard: IdempotencyRecord,
  executionId: string,
): Promise<void> {
  await transaction
    .insertInto('workflow.idempotency')
    .values({ ...guard, executionId })
    .execute();
}

/** Deletes the keys of executions that ended a day ago, at most `limit`; answers how many. */
export async function pruneKeys(database: WorkflowDatabase, limit: number): Promise<number> {
  const result = await sql`/* executions.prune-keys */
    delete from workflow.idempotency where ctid = any(array(
      select entry.ctid from workflow.idempotency entry join workflow.executions on executions.id = entry.execution_id
      where entry.created_at < now() - interval '24 hours' and executions.ended_at < now() - interval '24 hours'
      order by entry.created_at limit ${limit} for update of entry skip locked))`.execute(database);
  return Number(result.numAffectedRows ?? 0);
}
