import type { Logger } from '../../process/logger.ts';
import { createLoop, type Loop } from '../../process/loop.ts';
import type { JobTable } from './job-table.ts';
import type { SlotWorker } from './worker.ts';

export interface TickerOptions {
  readonly workers: ReadonlyMap<string, SlotWorker>;
  readonly table: JobTable;
  readonly logger: Logger;
  /** Pause between two polls, in milliseconds. */
  readonly pauseMs: () => number;
}

/**
 * The slow poll behind the wake-ups, one for all queues of a process, so that an idle process costs two small
 * statements a second. Finds jobs that are due or whose wake-up was lost, and jobs of dead workers.
 */
export function createTicker({ workers, table, logger, pauseMs }: TickerOptions): Loop {
  async function tick(): Promise<void> {
    for (const { queue, id, state } of await table.reclaimLost()) {
      if (state === 'failed')
        logger.error({ queue, job: id }, 'a job failed for good: its workers were lost each time');
      else logger.warn({ queue, job: id }, 'a job of a lost worker will be retried');
    }
    const idle = [...workers].filter(([, worker]) => worker.hasFreeSlot()).map(([queue]) => queue);
    if (idle.length === 0) return;
    for (const queue of await table.withWork(idle)) workers.get(queue)?.wake();
  }
  return createLoop({ tick, everyMs: pauseMs, logger, name: 'queues' });
}
