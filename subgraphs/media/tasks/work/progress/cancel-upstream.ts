import { toError } from '../../../../../platform/errors.ts';
import type { Failure } from '../../../domain/failure.ts';
import type { WorkerDependencies } from '../attempts/dependencies.ts';
import { endAttempt } from '../attempts/end-attempt.ts';
import { callContextOf, type PollContext } from './poll-context.ts';

/** Failed cancel calls after which the attempt is closed all the same. */
const MAX_CANCEL_CALLS = 3;

const MESSAGES = {
  cancelled: 'cancelled',
  impossible: 'cancelled here; this upstream can not cancel, so its late result is discarded',
  unconfirmed: 'cancelled here; the upstream did not confirm it, so its late result is discarded',
} as const;

/**
 * Cancels a running attempt and closes it as CANCELLED. Its error says what happened upstream: where the wire has no
 * cancel, or it came too late, the work goes on there and its result is discarded. False: try again.
 */
export async function cancelUpstream(
  dependencies: WorkerDependencies,
  context: PollContext,
): Promise<boolean> {
  const outcome = await cancel(dependencies, context);
  if (outcome === 'try-again') return false;
  const failure: Failure = { code: 'LOST', message: MESSAGES[outcome], retryable: false };
  await endAttempt(dependencies, context.due, { from: ['RUNNING'], failure });
  return true;
}

async function cancel(
  dependencies: WorkerDependencies,
  context: PollContext,
): Promise<keyof typeof MESSAGES | 'try-again'> {
  const { due, capability } = context;
  if (capability.cancel === undefined) return 'impossible';
  try {
    const answer = await capability.cancel(due.handle ?? {}, callContextOf(dependencies, context));
    return answer === 'cancelled' ? 'cancelled' : 'unconfirmed';
  } catch (error) {
    dependencies.logger.warn({ error: toError(error), reference: due.reference }, 'a cancel call failed');
    return due.poll_failures + 1 >= MAX_CANCEL_CALLS ? 'unconfirmed' : 'try-again';
  }
}
