import { toError } from '../../../../../platform/errors.ts';
import { withJitter } from '../../../../../platform/process/jitter.ts';
import { createLoop, type Loop } from '../../../../../platform/process/loop.ts';
import {
  type DueAttempt,
  leaseDue,
  type NextPoll,
  recentEnds,
  scheduleNext,
} from '../../storage/poll-store.ts';
import { CANCEL_TOPIC, POLL_TOPIC } from '../../storage/transactor.ts';
import { pollAttempt } from './poll-attempt.ts';
import type { PollDependencies } from './poll-context.ts';
import { createWatchers } from './watchers.ts';

/**
 * Polls the upstreams of running attempts. Due attempts are leased in batches over all workers; each has its own next
 * time, written back in batches. Cancelling runs through here too, because it needs the saved handle.
 */
export function createPoller(dependencies: PollDependencies) {
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
  // In step with others a process would be the first each time, also at attempts that it can only put off.
  const everyMs = () => withJitter(limits.pollTickMs);
  const loop: Loop = createLoop({ tick: rounds.tick, everyMs, logger, name: 'poller' });
  const watchers = createWatchers(dependencies, () => loop.wake());
  const listening = [CANCEL_TOPIC, POLL_TOPIC].map((topic) => bus.listen(topic, () => loop.wake()));
  return {
    /** One round by itself: polls what is due, waits for the answers, and writes back the next times. */
    async poll(): Promise<void> {
      await rounds.tick();
      await rounds.settled();
      await rounds.writeBack();
    },
    start(): void {
      watchers.start();
      loop.start();
      learnFromRecentEnds(dependencies);
    },
    /** Ends the loop; calls under way get this long, then their attempts are simply due again after the lease. */
    async stop(graceSeconds: number): Promise<void> {
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

interface PollRoundsOptions<Due, Next> {
  /** Status requests at once. */
  readonly slots: number;
  /** Takes at most so many due attempts, which nobody else takes meanwhile. */
  readonly lease: (limit: number) => Promise<readonly Due[]>;
  /** Asks the upstream; answers when it is to be asked again, or null when that is over. */
  readonly ask: (due: Due) => Promise<Next | null>;
  readonly write: (next: readonly Next[]) => Promise<void>;
  /** Asking has thrown: the lease runs out and the attempt is due again. */
  readonly failed: (thrown: unknown, due: Due) => void;
  /** A reason to begin the next round at once. */
  readonly wake: () => void;
}

const MAX_LEASE = 300;

/**
 * Makes the rounds of polling of one worker: how many due attempts are taken at once, and when their next times are written.
 * Knows neither the database nor a clock, so that the rules can be run with a million attempts and a clock of their own.
 */
export function createPollRounds<Due, Next>(options: PollRoundsOptions<Due, Next>) {
  const { slots, lease, ask, write, failed, wake } = options;
  const running = new Set<Promise<void>>();
  let gathered: Next[] = [];
  /** More may be due than there was room for: the next free slot is a reason to look. */
  let hasMore = false;

  async function writeBack(): Promise<void> {
    const batch = gathered;
    gathered = [];
    try {
      await write(batch);
    } catch (error) {
      // The next tick writes them: their calls were made, and must not wait for the end of the lease.
      gathered = [...batch, ...gathered];
      throw error;
    }
  }
  async function take(): Promise<void> {
    const limit = Math.min(MAX_LEASE, slots - running.size);
    if (limit <= 0) return;
    const batch = await lease(limit);
    hasMore = batch.length === limit;
    for (const due of batch) begin(due);
  }
  function begin(due: Due): void {
    const poll = ask(due)
      .then((next) => void (next !== null && gathered.push(next)))
      .catch((thrown: unknown) => failed(thrown, due))
      .finally(() => {
        running.delete(poll);
        // Half of the slots at a time: a lease of one attempt costs as much as one of many.
        if (hasMore && running.size <= slots / 2) wake();
      });
    running.add(poll);
  }
  return {
    writeBack,
    /** Writes what has gathered, and takes what there is room for. */
    tick: async (): Promise<void> => {
      // Side by side: what is written was leased, so that they never touch the same attempts.
      for (const result of await Promise.allSettled([writeBack(), take()]))
        if (result.status === 'rejected') throw result.reason;
    },
    /** Resolves when everything that was taken has been asked for. */
    settled: async () => void (await Promise.all(running)),
  };
}
