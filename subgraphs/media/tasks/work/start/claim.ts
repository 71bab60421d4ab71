import { toError } from '../../../../../platform/errors.ts';
import type { AttemptKey } from '../../../domain/attempt.ts';
import { claimAttempt, renewClaim } from '../../storage/attempt-store.ts';
import { countRequest, lockBinding, readRoom } from '../../storage/slot-store.ts';
import { toAttemptKey, type AttemptContext } from '../attempts/attempt-context.ts';
import type { WorkerDependencies } from '../attempts/dependencies.ts';

/**
 * Takes the claim and with it a slot of the binding and one of its requests a minute: looking whether there is room and
 * taking it is one transaction under the binding's lock, so its limits hold with any number of workers. `full` when there
 * is no room, `not-ours` when the start was claimed or cancelled meanwhile.
 */
export async function takeClaim(
  { transactor }: WorkerDependencies,
  { attempt, binding }: AttemptContext,
  claim: string,
): Promise<'ours' | 'full' | 'not-ours'> {
  return transactor.run(async ({ transaction }) => {
    await lockBinding(transaction, binding);
    if ((await readRoom(transaction, binding)).free <= 0) return 'full';
    if (!(await claimAttempt(transaction, toAttemptKey(attempt), claim))) return 'not-ours';
    await countRequest(transaction, binding);
    return 'ours';
  });
}

/**
 * A held claim: the right to send one start. It is renewed while the start is under way, so that a worker that stops
 * (killed, or paused for too long) loses it, and another one takes over.
 */
export type HeldClaim = ReturnType<typeof holdClaim>;

/** Holds a claim that was just taken; `requestedAt` is the moment before it was requested. */
export function holdClaim(
  { database, limits, logger }: WorkerDependencies,
  key: AttemptKey,
  { id, requestedAt }: { readonly id: string; readonly requestedAt: Moment },
) {
  const lost = new AbortController();
  let confirmedAt = requestedAt;
  let renewing = false;
  const isFresh = (): boolean => millisecondsSince(confirmedAt) < (limits.claimStaleSeconds * 1000) / 2;
  const renew = async (): Promise<void> => {
    if (renewing) return;
    renewing = true;
    const at = now();
    try {
      if (await renewClaim(database, key, id)) confirmedAt = at;
      else lost.abort(new Error('the claim was taken over'));
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
    /** Aborted when the claim was lost. */
    lost: lost.signal,
    /**
     * Whether the claim is certainly ours for some time yet: to be called last of all before something is sent. The clock
     * tells a process that was paused meanwhile that others may have taken over, before anybody else can.
     */
    async confirm(): Promise<boolean> {
      if (!isFresh()) await renew();
      return isFresh() && !lost.signal.aborted;
    },
    release: () => clearInterval(timer),
  };
}

/** A moment by both clocks: one stands still while the machine sleeps, the other can be set. */
interface Moment {
  readonly steady: number;
  readonly wall: number;
}

/** This moment on both clocks. */
export function now(): Moment {
  return { steady: performance.now(), wall: Date.now() };
}

function millisecondsSince({ steady, wall }: Moment): number {
  return Math.max(performance.now() - steady, Date.now() - wall);
}
