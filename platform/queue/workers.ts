import type { Pool } from 'pg';

import { AppError } from '../errors.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { Logger } from '../process/logger.ts';
import { createClaims } from './claim.ts';
import { createClaimedJobs } from './claimed-jobs.ts';
import type { PgBossJobs } from './pg-boss-jobs.ts';
import type { JobHandler, QueueWorker, WorkOptions } from './queue.ts';
import { createTicker } from './ticker.ts';
import type { WaitingJobs } from './waiting-jobs.ts';
import { type SlotWorker, startSlotWorker } from './worker.ts';

/** The topic of wake-ups; the content is the queue's name. */
export const TOPIC = 'queue';
/** The topic of grown capacities. */
export const FREED_TOPIC = 'queue-freed';

interface Options {
  readonly pool: Pool;
  readonly waiting: WaitingJobs;
  readonly pgBoss: PgBossJobs | null;
  readonly bus: EventBus;
  readonly logger: Logger;
}

/** The workers of this process, one per queue, who listen and poll from the first one on. */
export function createWorkers({ pool, waiting, pgBoss, bus, logger }: Options) {
  const claimed = createClaimedJobs(pool);
  const workers = new Map<string, SlotWorker>();
  const polls = new Map<string, number>();
  const pauseMs = () => Math.min(1000, ...polls.values());
  const ticker = createTicker({ workers, claimed, waiting, pgBoss, logger, pauseMs });
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
    work(queue: string, options: WorkOptions, handler: JobHandler): QueueWorker {
      if (workers.has(queue)) throw new AppError('INTERNAL', `queue ${queue} has a handler already`);
      const fetch = createClaims(pool, queue);
      const onReleased = () => bus.publish(TOPIC, queue, Date.now());
      const worker = startSlotWorker({
        queue,
        options,
        handler,
        claimed,
        waiting,
        fetch,
        logger,
        onReleased,
      });
      workers.set(queue, worker);
      polls.set(queue, Math.max(options.pollMs ?? 1000, 50));
      listen();
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
