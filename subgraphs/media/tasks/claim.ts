import { toError } from '../../../platform/errors.ts';
import { renewClaim, type AttemptKey } from './attempt-store.ts';
import type { Engine } from './engine.ts';

/**
 * A held claim: the right to send one start. It is renewed while the start is under way, so that a worker that stops
 * (killed, or paused for too long) loses it, and the others take over.
 */
export interface HeldClaim {
  readonly id: string;
  /** Aborted when the claim was lost. */
  readonly lost: AbortSignal;
  release(): void;
}

export function holdClaim({ database, limits, logger }: Engine, key: AttemptKey, id: string): HeldClaim {
  const lost = new AbortController();
  let renewing = false;
  const renew = async (): Promise<void> => {
    if (renewing) return;
    renewing = true;
    try {
      if (!(await renewClaim(database, key, id))) lost.abort(new Error('the claim was taken over'));
    } catch (error) {
      // The next tick tries again; without success the claim goes stale, which is what must happen then.
      logger.warn({ error: toError(error), taskId: key.taskId }, 'a claim could not be renewed');
    } finally {
      renewing = false;
    }
  };
  const timer = setInterval(() => void renew(), (limits.claimStaleSeconds * 1000) / 3);
  timer.unref();
  return {
    id,
    lost: lost.signal,
    release: () => clearInterval(timer),
  };
}
