import { newId } from '../../../platform/ids.ts';
import type { Queue } from '../../../platform/queue/queue.ts';
import type { WorkflowTransaction } from '../database/database.ts';
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
