import { toError } from '../../../../../platform/errors.ts';
import { createLoop, type Loop } from '../../../../../platform/process/loop.ts';
import {
  leaseDue,
  recentEnds,
  scheduleNext,
  type DueAttempt,
  type NextPoll,
} from '../../storage/poll-store.ts';
import { CANCEL_TOPIC, POLL_TOPIC } from '../../storage/transactor.ts';
import { pollAttempt } from './poll-attempt.ts';
import type { PollDependencies } from './poll-context.ts';
import { createPollRounds } from './poll-rounds.ts';
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

/** Makes the poller of one worker. */
export function createPoller(dependencies: PollDependencies): Poller {
  const { limits, slots, database, logger, bus } = dependencies;
  const stopping = new AbortController();
  const rounds = createPollRounds<DueAttempt, NextPoll>({
    slots: slots.poll,
    lease: (limit) => leaseDue(database, { leaseSeconds: limits.leaseSeconds, limit }),
    ask: (due) => pollAttempt(dependencies, { due, watchers, stopping: stopping.signal }),
    write: (next) => scheduleNext(database, next),
    failed: (thrown, { reference }) => logger.error({ error: toError(thrown), reference }, 'a poll failed'),
    wake: () => loop.wake(),
  });
  const loop: Loop = createLoop({ tick: rounds.tick, everyMs: limits.pollTickMs, logger, name: 'poller' });
  const watchers = createWatchers(dependencies, () => loop.wake());
  const listening = [CANCEL_TOPIC, POLL_TOPIC].map((topic) => bus.listen(topic, () => loop.wake()));
  return {
    async poll() {
      await rounds.tick();
      await rounds.settled();
      await rounds.writeBack();
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
      await Promise.allSettled([rounds.settled(), watchers.stop()]);
      clearTimeout(timer);
      await rounds.writeBack();
    },
  };
}

/** Nothing waits for it: until it is read, each wire is asked at its own pause. */
function learnFromRecentEnds({ database, durations, logger }: PollDependencies): void {
  recentEnds(database)
    .then((ended) => ended.forEach((work) => durations.learn(work, work.endedAt)))
    .catch((error: unknown) => logger.warn({ error: toError(error) }, 'earlier durations are not known'));
}
