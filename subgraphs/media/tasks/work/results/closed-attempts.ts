import type { StepRow, TaskRow } from '../../../database/database.ts';
import { isFinal } from '../../../domain/task.ts';
import { startQueue } from '../../rules/queues.ts';
import { closeAttempts } from '../../storage/attempt-store.ts';
import { readStepsByTask } from '../../storage/step-store.ts';
import { lockTasks } from '../../storage/task-store.ts';
import type { TransactionScope } from '../../storage/transactor.ts';
import { toAttemptKey } from '../attempts/attempt-context.ts';
import type { UpstreamFinish } from '../attempts/dependencies.ts';

/** Attempts whose upstreams have finished, many in each statement. */

/** An attempt that has been closed. */
export interface ClosedAttempt extends UpstreamFinish {
  readonly task: TaskRow;
  /** Whether nobody wants the result any more: the task was cancelled or has ended meanwhile. */
  readonly discarded: boolean;
}

/** The same with the steps of its task. */
export interface Finished extends ClosedAttempt {
  readonly steps: readonly StepRow[];
  /** The attempt's own. */
  readonly current: StepRow;
}

/** Closes those that are still open, of different tasks, under the locks on their tasks. */
export async function closeFinished(
  scope: TransactionScope,
  finishes: readonly UpstreamFinish[],
): Promise<readonly ClosedAttempt[]> {
  const locked = await lockTasks(
    scope.transaction,
    finishes.map(({ attempt }) => attempt.taskId),
  );
  const tasks = new Map(locked.map((task) => [task.id, task]));
  const known = finishes.flatMap((finish): readonly ClosedAttempt[] => {
    const task = tasks.get(finish.attempt.taskId);
    if (task === undefined) return [];
    return [{ ...finish, task, discarded: isFinal(task.state) || task.cancelRequestedAt !== null }];
  });
  const closed = await closeAttempts(
    scope.transaction,
    known.map(({ attempt, from, claim, discarded }) => ({
      ...toAttemptKey(attempt),
      from: [from],
      to: discarded ? 'CANCELLED' : 'SUCCEEDED',
      claim,
    })),
  );
  const taskIds = new Set(closed.map(({ taskId }) => taskId));
  const ours = known.filter(({ task }) => taskIds.has(task.id));
  for (const { attempt } of ours) scope.freed(startQueue(attempt.binding));
  return ours;
}

/** Reads their steps. */
export async function withSteps(
  scope: TransactionScope,
  closed: readonly ClosedAttempt[],
): Promise<readonly Finished[]> {
  if (closed.length === 0) return [];
  const taskIds = closed.map(({ task }) => task.id);
  const all = Map.groupBy(await readStepsByTask(scope.transaction, taskIds), ({ taskId }) => taskId);
  return closed.flatMap((one) => {
    const steps = all.get(one.task.id) ?? [];
    const current = steps.find(({ step }) => step === one.attempt.step);
    return current === undefined ? [] : [{ ...one, steps, current }];
  });
}
