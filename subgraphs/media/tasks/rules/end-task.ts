import type { TaskRow } from '../../database/database.ts';
import type { Failure } from '../../domain/failure.ts';
import type { TaskOutcome } from '../../domain/task.ts';
import { settleUnstored, type AccountingDependencies } from '../accounting/settle.ts';
import { closeUnsentAttempts } from '../storage/attempt-store.ts';
import { pollNow } from '../storage/poll-store.ts';
import { closeSteps } from '../storage/step-store.ts';
import { CANCEL_TOPIC, type TransactionScope } from '../storage/transactor.ts';
import { settleTasks } from '../storage/usage-store.ts';
import type { EndListener } from './hooks.ts';

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

/** A task that ends. */
export interface EndingTask {
  readonly task: TaskRow;
  readonly end: Omit<TaskEnd, 'failedStep'>;
  readonly failedStep?: number | undefined;
}

/**
 * Writes states and end events, enqueues the jobs of `on_end`, calls the listener, and adds the tasks to the totals of usage.
 * Only once: the append only touches open tasks.
 */
export async function endTasks(
  options: EndOptions,
  scope: TransactionScope,
  ending: readonly EndingTask[],
): Promise<void> {
  const events = ending.map(({ task, end }) => ({ taskId: task.id, ...END_EVENTS[end.state], ...end }));
  const appended = new Map((await scope.append(events)).map((event) => [event.taskId, event]));
  const ended = ending.filter(({ task }) => appended.has(task.id));
  for (const one of ended) {
    if (one.end.state !== 'SUCCEEDED')
      await breakOff(options, scope, one, appended.get(one.task.id)?.seq ?? 0);
  }
  const summaries = await settleTasks(scope.transaction, [...appended.keys()]);
  const jobs = [...appended.values()].flatMap(({ taskId, state, onEnd }) =>
    onEnd === null ? [] : [{ queue: onEnd, data: { taskId, state } }],
  );
  await scope.enqueue(...jobs);
  scope.afterCommit(() => summaries.forEach((summary) => options.observer?.taskEnded(summary)));
  for (const { task, end } of ended) await options.endListener?.ended(scope, task, end.state);
}

/** Nothing of the task goes on: what is open of it is closed, and what runs at an upstream is cancelled by the poller. */
async function breakOff(
  options: EndOptions,
  scope: TransactionScope,
  { task, failedStep }: EndingTask,
  seq: number,
): Promise<void> {
  await closeSteps(scope.transaction, task.id, failedStep ?? null);
  await closeUnsentAttempts(scope.transaction, task.id);
  await pollNow(scope.transaction, task.id);
  scope.publish(CANCEL_TOPIC, task.id, seq);
  await settleUnstored(options, { scope, task });
}

/** The same for one task. */
export function endTask(
  options: EndOptions,
  { scope, task }: { readonly scope: TransactionScope; readonly task: TaskRow },
  { failedStep, ...end }: TaskEnd,
): Promise<void> {
  return endTasks(options, scope, [{ task, end, failedStep }]);
}

const END_EVENTS = {
  SUCCEEDED: { stage: 'finished', progress: 100 },
  FAILED: { stage: 'failed' },
  CANCELLED: { stage: 'cancelled', cancel: true },
} as const satisfies Record<TaskEnd['state'], object>;
