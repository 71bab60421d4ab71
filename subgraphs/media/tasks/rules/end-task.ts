import type { TaskRow } from '../../database/database.ts';
import type { Failure } from '../../domain/failure.ts';
import type { TaskOutcome } from '../../domain/task.ts';
import { settleUnstored, type AccountingDependencies } from '../accounting/settle.ts';
import { closeUnsentAttempts } from '../storage/attempt-store.ts';
import { pollNow } from '../storage/poll-store.ts';
import { closeSteps } from '../storage/step-store.ts';
import { CANCEL_TOPIC, type TransactionScope } from '../storage/transactor.ts';
import { readEnd, settleTask } from '../storage/usage-store.ts';
import type { EndListener } from './end-listener.ts';

/** How a task ends. */
export interface TaskEnd {
  readonly state: 'SUCCEEDED' | 'FAILED' | 'CANCELLED';
  readonly error?: Failure;
  readonly result?: TaskOutcome;
  readonly failedStep?: number;
}

/** What ending a task needs. */
export interface EndOptions extends AccountingDependencies {
  readonly endListener?: EndListener | undefined;
}

/**
 * Writes state and end event, enqueues the job of `on_end`, calls the listener, and adds the task to the totals of usage.
 * Only once: the append only touches open tasks.
 */
export async function endTask(
  options: EndOptions,
  { scope, task }: { readonly scope: TransactionScope; readonly task: TaskRow },
  { failedStep, ...end }: TaskEnd,
): Promise<void> {
  const [appended] = await scope.append([{ taskId: task.id, ...END_EVENTS[end.state], ...end }]);
  if (appended === undefined) return;
  if (end.state !== 'SUCCEEDED') {
    await closeSteps(scope.transaction, task.id, failedStep ?? null);
    await closeUnsentAttempts(scope.transaction, task.id);
    await pollNow(scope.transaction, task.id);
    scope.publish(CANCEL_TOPIC, task.id, appended.seq);
    await settleUnstored(options, { scope, task });
  }
  await settleTask(scope.transaction, task.id, end.state);
  if (appended.onEnd !== null) {
    await scope.enqueue({ queue: appended.onEnd, data: { taskId: task.id, state: end.state } });
  }
  const summary = await readEnd(scope.transaction, task.id);
  if (summary !== null) scope.afterCommit(() => options.observer?.taskEnded(summary));
  await options.endListener?.ended(scope, task, end.state);
}

const END_EVENTS = {
  SUCCEEDED: { stage: 'finished', progress: 100 },
  FAILED: { stage: 'failed' },
  CANCELLED: { stage: 'cancelled', cancel: true },
} as const satisfies Record<TaskEnd['state'], object>;
