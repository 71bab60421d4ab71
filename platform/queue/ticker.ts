import type { Logger } from '../process/logger.ts';
import { createLoop, type Loop } from '../process/loop.ts';
import type { ClaimedJobs } from './claimed-jobs.ts';
import type { PgBossJobs } from './pg-boss-jobs.ts';
import type { WaitingJobs } from './waiting-jobs.ts';
import type { SlotWorker } from './worker.ts';

export interface TickerOptions {
  readonly workers: ReadonlyMap<string, SlotWorker>;
  readonly claimed: ClaimedJobs;
  readonly waiting: WaitingJobs;
  readonly pgBoss: PgBossJobs | null;
  readonly logger: Logger;
  /** Pause between two polls, in milliseconds. */
  readonly pauseMs: () => number;
}

const BETWEEN_PRUNES_MS = 600_000;

/**
 * The slow poll behind the wake-ups, one for all queues of a process, so that an idle process costs two small
 * statements a second. Finds jobs that are due or whose wake-up was lost, and jobs of dead workers; deletes old ones.
 */
export function createTicker({ workers, claimed, waiting, pgBoss, logger, pauseMs }: TickerOptions): Loop {
  let pruneAt = 0;
  async function tick(): Promise<void> {
    await pgBoss?.move();
    for (const { queue, id, state } of await claimed.reclaimLost()) {
      if (state === 'failed')
        logger.error({ queue, job: id }, 'a job failed for good: its workers were lost each time');
      else logger.warn({ queue, job: id }, 'a job of a lost worker will be retried');
    }
    const idle = [...workers].filter(([, worker]) => worker.hasFreeSlot()).map(([queue]) => queue);
    if (idle.length > 0) for (const queue of await waiting.withWork(idle)) workers.get(queue)?.wake();
    if (Date.now() < pruneAt) return;
    // Not every process at once.
    pruneAt = Date.now() + BETWEEN_PRUNES_MS * (0.8 + 0.4 * Math.random());
    await claimed.prune();
    await pgBoss?.prune();
  }
  return createLoop({ tick, everyMs: pauseMs, logger, name: 'queues' });
}
