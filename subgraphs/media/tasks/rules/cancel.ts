import { sql } from 'kysely';

import { AppError, notFound } from '../../../../platform/errors.ts';
import type { MediaDatabase, TaskRow } from '../../database/database.ts';
import { isFinal } from '../../domain/task.ts';
import { closeUnsentAttempts, hasOpenAttempts } from '../storage/attempt-store.ts';
import { pollNow } from '../storage/poll-store.ts';
import { readSteps } from '../storage/step-store.ts';
import { lockTask, readTasks } from '../storage/task-store.ts';
import { CANCEL_TOPIC, type Transactor, type TransactionScope } from '../storage/transactor.ts';
import type { TaskTransitions } from './transitions.ts';

/** Cancel requests. The row decides; publishing it only makes it quick. */
export interface CancelOptions {
  readonly database: MediaDatabase;
  readonly transactor: Transactor;
  readonly transitions: TaskTransitions;
}

/**
 * Sets the cancel request once. What only waits is cancelled at once; what runs upstream is cancelled by the worker
 * that holds or polls it. TOO_LATE when the task has ended otherwise, or its result is being stored.
 */
export async function cancelTask(
  { database, transactor, transitions }: CancelOptions,
  id: string,
): Promise<TaskRow> {
  await transactor.run(async (scope) => {
    const task = await lockTask(scope.transaction, id);
    if (task === null) throw notFound('task', id);
    if (task.state === 'CANCELLED' || (task.cancelRequestedAt !== null && !isFinal(task.state))) return;
    if (isFinal(task.state)) throw tooLate(`the task has ${task.state.toLowerCase()} already`);
    const steps = await readSteps(scope.transaction, id);
    const open = steps.filter(({ state }) => state === 'QUEUED' || state === 'RUNNING');
    if (open.length === 0) throw tooLate('its result is being stored already');
    await request(scope, { task, transitions });
  });
  const [task] = await readTasks(database, [id]);
  if (task === undefined) throw notFound('task', id);
  return task;
}

async function request(
  scope: TransactionScope,
  { task, transitions }: { task: TaskRow; transitions: TaskTransitions },
): Promise<void> {
  const { transaction } = scope;
  await closeUnsentAttempts(transaction, task.id);
  await sql`/* steps.cancel-waiting */
    update media.task_steps set state = 'CANCELLED', ended_at = now()
    where task_id = ${task.id}::uuid and state = 'QUEUED'`.execute(transaction);
  if (!(await hasOpenAttempts(transaction, task.id))) {
    await transitions.endCancelled(scope, task);
    return;
  }
  const [appended] = await scope.append([{ taskId: task.id, cancel: true, stage: 'cancelling' }]);
  await pollNow(transaction, task.id);
  if (appended !== undefined) scope.publish(CANCEL_TOPIC, task.id, appended.seq);
}

function tooLate(reason: string): AppError {
  return new AppError('TOO_LATE', `too late to cancel: ${reason}`);
}
