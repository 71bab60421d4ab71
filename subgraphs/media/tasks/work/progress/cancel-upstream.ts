import { toError } from '../../../../../platform/errors.ts';
import type { Failure } from '../../../domain/task.ts';
import { endAttempt } from '../attempts/attempt-context.ts';
import { contextOf, type Scene } from './poll-context.ts';

/** Failed cancel calls after which the attempt is closed all the same. */
const MAX_CANCEL_CALLS = 3;

const note = (message: string): Failure => ({ code: 'LOST', message, retryable: false });

/**
 * Cancels a running attempt and closes it as CANCELLED. Its error says what became of it upstream: without a cancel of
 * its wire, or when that came too late, the work goes on there and its result is discarded. False: try again.
 */
export async function cancelUpstream(scene: Scene): Promise<boolean> {
  const { engine, due, capability } = scene;
  const verdict = await ask(scene);
  if (verdict === 'try-again') return false;
  const failure =
    verdict === 'cancelled'
      ? note('cancelled')
      : note(
          capability.cancel === undefined
            ? 'cancelled here; this upstream can not cancel, so its late result is discarded'
            : 'cancelled here; the upstream did not confirm it, so its late result is discarded',
        );
  await endAttempt(engine, { ...due }, { from: ['RUNNING'], failure });
  return true;
}

async function ask(scene: Scene): Promise<'cancelled' | 'goes-on' | 'try-again'> {
  const { engine, due, capability } = scene;
  if (capability.cancel === undefined) return 'goes-on';
  try {
    const answer = await capability.cancel(due.handle ?? {}, contextOf(scene));
    return answer === 'cancelled' ? 'cancelled' : 'goes-on';
  } catch (error) {
    engine.logger.warn({ error: toError(error), reference: due.reference }, 'a cancel call failed');
    return due.poll_failures + 1 >= MAX_CANCEL_CALLS ? 'goes-on' : 'try-again';
  }
}
