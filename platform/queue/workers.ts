import type { Pool } from 'pg';

import { AppError } from '../errors.ts';
import type { EventBus } from '../events/event-bus.ts';
import { withJitter } from '../process/jitter.ts';
import type { Logger } from '../process/logger.ts';
import { createLoop } from '../process/loop.ts';
import { createClaims } from './claim.ts';
import { type ClaimedJobs, createClaimedJobs } from './claimed-jobs.ts';
import type { PgBossJobs } from './pg-boss-jobs.ts';
import type { JobHandler, QueueWorker, WorkOptions } from './queue.ts';
import type { WaitingJobs } from './waiting-jobs.ts';
import { type SlotWorker, startSlotWorker } from './worker.ts';

/** The topic of wake-ups; the content is the queue's name. */
export const TOPIC = 'queue';
/** The topic of grown capacities. */
export const FREED_TOPIC = 'queue-freed';

const BETWEEN_PRUNES_MS = 600_000;

interface Options {
  readonly pool: Pool;
  readonly waiting: WaitingJobs;
  readonly pgBoss: PgBossJobs | null;
  readonly bus: EventBus;
  readonly logger: Logger;
}

interface State extends Options {
  readonly claimed: ClaimedJobs;
  readonly workers: Map<string, SlotWorker>;
  pruneAt: number;
}

/** The workers of this process, one per queue, who listen and poll from the first one on. */
export function createWorkers(options: Options) {
  const { pool, waiting, bus, logger } = options;
  const claimed = createClaimedJobs(pool);
  const workers = new Map<string, SlotWorker>();
  const state: State = { ...options, claimed, workers, pruneAt: 0 };
  const polls = new Map<string, number>();
  // In step with others a process would be the first each time, also at jobs that it can only put off.
  const everyMs = () => withJitter(Math.min(1000, ...polls.values()));
  const ticker = createLoop({ tick: () => tick(state), everyMs, logger, name: 'queues' });
  const stopListening: (() => void)[] = [];

  function listen(): void {
    if (stopListening.length > 0) return;
    stopListening.push(
      bus.listen(TOPIC, (name) => workers.get(name)?.wake()),
      bus.listen(FREED_TOPIC, (name) => workers.get(name)?.freed()),
      bus.onGap(() => workers.forEach((worker) => worker.wake())),
    );
    ticker.start();
  }

  return {
    /** Works a queue. Throws INTERNAL when this process works it already. */
    work(queue: string, worked: WorkOptions, handler: JobHandler): QueueWorker {
      if (workers.has(queue)) throw new AppError('INTERNAL', `queue ${queue} has a handler already`);
      const fetch = createClaims(pool, queue);
      const onReleased = () => bus.publish(TOPIC, queue, Date.now());
      const worker = startSlotWorker({
        queue,
        options: worked,
        handler,
        claimed,
        waiting,
        fetch,
        logger,
        onReleased,
      });
      workers.set(queue, worker);
      polls.set(queue, Math.max(worked.pollMs ?? 1000, 50));
      listen();
      // Its jobs may wait already: the ticker asks for those of all queues in one statement.
      ticker.wake();
      return {
        wake: () => worker.wake(),
        hasten: () => worker.hasten(),
        async stop(graceSeconds) {
          await worker.stop(graceSeconds);
          workers.delete(queue);
          polls.delete(queue);
        },
      };
    },
    async stop(graceSeconds: number): Promise<void> {
      await ticker.stop();
      for (const stop of stopListening) stop();
      await Promise.all([...workers.values()].map((worker) => worker.stop(graceSeconds)));
    },
  };
}

/**
 * The slow poll behind the wake-ups, one for all queues of a process, so that an idle process costs two small statements a
 * second. Finds jobs that are due or whose wake-up was lost, and jobs of dead workers; deletes old ones.
 */
async function tick(state: State): Promise<void> {
  const { workers, claimed, waiting, pgBoss, logger } = state;
  await pgBoss?.move();
  for (const { queue, id, state: is } of await claimed.reclaimLost()) {
    if (is === 'failed')
      logger.error({ queue, job: id }, 'a job failed for good: its workers were lost each time');
    else logger.warn({ queue, job: id }, 'a job of a lost worker will be retried');
  }
  const idle = [...workers].filter(([, worker]) => worker.hasFreeSlot()).map(([queue]) => queue);
  if (idle.length > 0) for (const queue of await waiting.withWork(idle)) workers.get(queue)?.wake();
  if (Date.now() < state.pruneAt) return;
  // Not every process at once.
  state.pruneAt = Date.now() + BETWEEN_PRUNES_MS * (0.8 + 0.4 * Math.random());
  await claimed.prune();
  await pgBoss?.prune();
}
