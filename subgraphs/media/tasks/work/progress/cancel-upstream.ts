import { toError } from '../../../../../platform/errors.ts';
import type { Failure } from '../../../domain/failure.ts';
import { isFinal } from '../../../domain/task.ts';
import { isShared, type NextPoll } from '../../storage/poll-store.ts';
import { lockOpenTask } from '../../storage/task-store.ts';
import type { WorkerDependencies } from '../attempts/dependencies.ts';
import { type AttemptEnd, endAttempt } from '../attempts/end-attempt.ts';
import { backOffMs, callUpstream, nextPoll, type PollContext } from './poll-context.ts';

/** What became of a cancel call. `unanswered` is to be tried again: the work may still run. */
export type CancelOutcome = 'cancelled' | 'impossible' | 'too-late' | 'unanswered';

/** Failed calls to a silent upstream after which a cancelled task no longer waits for the answer. */
const WAITED_FOR = 3;

const MESSAGES: Readonly<Record<CancelOutcome, string>> = {
  cancelled: 'cancelled',
  impossible: 'cancelled here; this upstream can not cancel, so its late result is discarded',
  'too-late': 'cancelled here; the upstream did not confirm it, so its late result is discarded',
  unanswered: 'cancelled here; the upstream did not answer, so its late result is discarded',
};

/** What the work costs then: what goes on upstream, or has ended there, is charged though nobody wants it. */
const ENDINGS: Readonly<Record<CancelOutcome, AttemptEnd['ending']>> = {
  cancelled: 'failed',
  impossible: 'finished',
  'too-late': 'finished',
  unanswered: 'unknown',
};

/** Asks the upstream once to stop the work of an attempt. */
export async function callCancel(
  dependencies: WorkerDependencies,
  context: PollContext,
): Promise<CancelOutcome> {
  const { due, capability } = context;
  const cancel = capability.cancel?.bind(capability);
  if (cancel === undefined || (await isWantedByOthers(dependencies.database, context))) return 'impossible';
  try {
    return await callUpstream(dependencies, context, (call) => cancel(due.handle ?? {}, call));
  } catch (error) {
    context.stopping.throwIfAborted();
    dependencies.logger.warn({ error: toError(error), reference: due.reference }, 'a cancel call failed');
    return 'unanswered';
  }
}

/** Whether its upstream does it as one with attempts of tasks that go on. */
async function isWantedByOthers(
  database: WorkerDependencies['database'],
  { due, capability: { sharedBy } }: PollContext,
): Promise<boolean> {
  return sharedBy !== undefined && (await isShared(database, due, sharedBy));
}

/**
 * Cancels an attempt that nobody wants any more and closes it as CANCELLED. Its error says what happened upstream: where
 * the wire has no cancel, or it came too late, the work goes on there and its result is discarded. While the upstream
 * does not answer, the call is repeated with back-off for a bounded time; the task does not wait for that long.
 */
export async function cancelAttempt(
  dependencies: WorkerDependencies,
  context: PollContext,
): Promise<NextPoll | null> {
  const { due } = context;
  const outcome = await callCancel(dependencies, context);
  if (outcome !== 'unanswered' || due.cancellingSeconds > dependencies.limits.cancelBudgetSeconds) {
    const failure: Failure = { code: 'LOST', message: MESSAGES[outcome], retryable: false };
    // What is done as one with others' work may still be stopped with it.
    const isOpen = context.capability.sharedBy !== undefined && outcome !== 'cancelled';
    const ending = isOpen ? 'unknown' : ENDINGS[outcome];
    await endAttempt(dependencies, due, { from: ['RUNNING'], failure, ending });
    return null;
  }
  const failures = due.pollFailures + 1;
  if (failures >= WAITED_FOR && due.cancelRequested && !isFinal(due.taskState)) {
    await endCancelledTask(dependencies, due.taskId);
  }
  return nextPoll(due, { inMs: backOffMs(context, failures), failures });
}

async function endCancelledTask(
  { transactor, transitions }: WorkerDependencies,
  taskId: string,
): Promise<void> {
  await transactor.run(async (scope) => {
    const task = await lockOpenTask(scope.transaction, taskId);
    if (task !== null) await transitions.endCancelled(scope, task);
  });
}
