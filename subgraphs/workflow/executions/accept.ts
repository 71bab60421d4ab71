import { sql } from 'kysely';

import { idempotencyConflict, type IdempotencyRecord } from '../../../platform/access/idempotency.ts';
import { newId } from '../../../platform/ids.ts';
import type { Queue } from '../../../platform/queue/queue.ts';
import type { WorkflowTransaction, WorkflowDatabase } from '../database/database.ts';
import { startQueue } from './lifecycle.ts';
import type { StoredExecution } from './store.ts';

/** A new execution, already validated. */
export type NewExecution = Pick<
  StoredExecution,
  | 'externalId'
  | 'owner'
  | 'userId'
  | 'templateCode'
  | 'parameters'
  | 'start'
  | 'taskOwner'
  | 'fingerprint'
  | 'traceparent'
  | 'sold'
>;

/** Seconds after which the queued job starts the task, in case the inline start did not. */
const BACKSTOP_SECONDS = 4;

/** Writes an execution and the job that starts its task, in the caller's transaction. */
export async function acceptExecution(
  transaction: WorkflowTransaction,
  queue: Queue,
  { parameters, start, ...execution }: NewExecution,
): Promise<StoredExecution> {
  const accepted = await transaction
    .insertInto('workflow.executions')
    .values({
      ...execution,
      id: newId(),
      taskId: newId(),
      stage: 'waiting for the media service',
      parameters: JSON.stringify(parameters),
      start: JSON.stringify(start),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  const data = { executionId: accepted.id };
  await queue.enqueue(transaction, { queue: startQueue, data, startAfterSeconds: BACKSTOP_SECONDS });
  return accepted;
}

/** The execution this key was used for, or null. IDEMPOTENCY_CONFLICT when it was used for another request. */
export async function findExecutionOfKey(
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
