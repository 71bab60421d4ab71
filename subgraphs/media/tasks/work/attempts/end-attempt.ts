import type { AttemptRow } from '../../../database/database.ts';
import type { AttemptState } from '../../../domain/attempt.ts';
import type { Failure } from '../../../domain/failure.ts';
import { isFinal } from '../../../domain/task.ts';
import { type ClosedAttempt, settle } from '../../accounting/settle.ts';
import { isPassing } from '../../rules/next-attempt.ts';
import { startQueue } from '../../rules/queues.ts';
import { closeAttempt, isCurrent } from '../../storage/attempt-store.ts';
import { readSteps } from '../../storage/step-store.ts';
import { lockTask } from '../../storage/task-store.ts';
import { toAttemptKey } from './attempt-context.ts';
import type { WorkerDependencies } from './dependencies.ts';

/** How an attempt ended badly. */
export interface AttemptEnd {
  readonly from: readonly AttemptState[];
  /** Why. With START_UNKNOWN the attempt becomes UNKNOWN, else FAILED. */
  readonly failure: Failure;
  /** Only when the attempt is still under this claim. */
  readonly claim?: string;
  /** Only while nobody has claimed it. */
  readonly isUnclaimed?: boolean;
  readonly retryAfter?: number | undefined;
  /** What its price depends on (default: as it was left and failed); the upstream may go on with what nobody wants any more. */
  readonly ending?: ClosedAttempt['ending'] | undefined;
}

/**
 * Closes an attempt that failed and lets its task go on: another attempt, the end of the task, or the end of its
 * cancelling. False when the attempt was no longer ours to close.
 */
export async function endAttempt(
  dependencies: WorkerDependencies,
  attempt: AttemptRow,
  { from, failure, claim, isUnclaimed, retryAfter, ending: given }: AttemptEnd,
): Promise<boolean> {
  const { transactor, transitions, logger } = dependencies;
  const isUnknown = failure.code === 'START_UNKNOWN';
  const key = toAttemptKey(attempt);
  return transactor.run(async (scope) => {
    const task = await lockTask(scope.transaction, attempt.taskId);
    if (task === null) return false;
    const isOver = task.cancelRequestedAt !== null || isFinal(task.state);
    const closed = await closeAttempt(scope.transaction, key, {
      from,
      to: isUnknown ? 'UNKNOWN' : isOver ? 'CANCELLED' : 'FAILED',
      error: isUnknown ? { ...failure, retryable: false } : failure,
      claim,
      isUnclaimed,
    });
    if (!closed) return false;
    logger.info({ ...key, code: failure.code }, 'an attempt ended');
    scope.freed(startQueue(attempt.binding));
    const steps = await readSteps(scope.transaction, attempt.taskId);
    const input = steps.find(({ step }) => step === attempt.step)?.input;
    const ending = given ?? (isUnknown ? 'unknown' : from.includes('RUNNING') ? 'failed' : 'refused');
    if (input !== undefined) {
      await settle(dependencies, { scope, task }, { attempt, input, ending, failure });
    }
    if (isFinal(task.state)) return true;
    if (task.cancelRequestedAt !== null) await transitions.settleCancel(scope, task);
    else if (await isCurrent(scope.transaction, key)) {
      // Before its claim nobody has asked the provider anything.
      const hasBegunNothing = ending === 'refused' && claim !== undefined;
      await transitions.tryAgain(scope, task, {
        step: key.step,
        failure,
        retryAfter,
        attempt,
        isPassing: hasBegunNothing && isPassing(failure),
      });
    }
    return true;
  });
}
