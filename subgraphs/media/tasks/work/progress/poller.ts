import { toError } from '../../../../../platform/errors.ts';
import { createLoop, type Loop } from '../../../../../platform/process/loop.ts';
import { leaseDue, recentEnds, scheduleNext, type NextPoll } from '../../storage/poll-store.ts';
import { CANCEL_TOPIC, POLL_TOPIC } from '../../storage/transactor.ts';
import { pollAttempt } from './poll-attempt.ts';
import type { PollDependencies } from './poll-context.ts';
import { createWatchers } from './watchers.ts';

/**
 * Polls the upstreams of running attempts. Due attempts are leased in batches over all workers; each has its own
 * next time, written back in batches. Cancelling runs through here too, because it needs the saved handle.
 */
export interface Poller {
  /** One round by itself: polls what is due, waits for the answers, and writes back the next times. */
  poll(): Promise<void>;
  start(): void;
  /** Ends the loop; calls under way get this long, then their attempts are simply due again after the lease. */
  stop(graceSeconds: number): Promise<void>;
}

/** Most attempts in one lease. */
const MAX_LEASE = 300;

/** Makes the poller of one worker. */
export function createPoller(dependencies: PollDependencies): Poller {
  const { limits, slots, database, logger, bus } = dependencies;
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();
  let next: NextPoll[] = [];
  /** More may be due than there was room for: the next free slot is a reason to look. */
  let hasMore = false;

  async function writeBack(): Promise<void> {
    const batch = next;
    next = [];
    try {
      await scheduleNext(database, batch);
    } catch (error) {
      // The next tick writes them: their calls were made, and must not wait for the end of the lease.
      next = [...batch, ...next];
      throw error;
    }
  }
  async function tick(): Promise<void> {
    await writeBack();
    const limit = Math.min(MAX_LEASE, slots.poll - running.size);
    if (limit <= 0) return;
    const batch = await leaseDue(database, { leaseSeconds: limits.leaseSeconds, limit });
    hasMore = batch.length === limit;
    for (const due of batch) {
      const poll = pollAttempt(dependencies, { due, watchers, stopping: stopping.signal })
        .then((again) => void (again && next.push(again)))
        .catch((error: unknown) => {
          // The lease runs out and the attempt is due again.
          logger.error({ error: toError(error), reference: due.reference }, 'a poll failed');
        })
        .finally(() => {
          running.delete(poll);
          // Half of the slots at a time: a lease of one attempt costs as much as one of many.
          if (hasMore && running.size <= slots.poll / 2) loop.wake();
        });
      running.add(poll);
    }
  }
  const loop: Loop = createLoop({ tick, everyMs: limits.pollTickMs, logger, name: 'poller' });
  const watchers = createWatchers(dependencies, () => loop.wake());
  const listening = [CANCEL_TOPIC, POLL_TOPIC].map((topic) => bus.listen(topic, () => loop.wake()));
  return {
    async poll() {
      await tick();
      await Promise.all(running);
      await writeBack();
    },
    start() {
      watchers.start();
      loop.start();
      learnFromRecentEnds(dependencies);
    },
    async stop(graceSeconds) {
      for (const stopListening of listening) stopListening();
      await loop.stop();
      const timer = setTimeout(() => stopping.abort(new Error('the worker stops')), graceSeconds * 1000);
      await Promise.allSettled([...running, watchers.stop()]);
      clearTimeout(timer);
      await writeBack();
    },
  };
}

/** Nothing waits for it: until it is read, each wire is asked at its own pause. */
function learnFromRecentEnds({ database, durations, logger }: PollDependencies): void {
  recentEnds(database)
    .then((ended) => ended.forEach((work) => durations.learn(work)))
    .catch((error: unknown) => logger.warn({ error: toError(error) }, 'earlier durations are not known'));
}
