import { toError } from '../../errors.ts';
import type { Logger } from '../../process/logger.ts';
import type { JobTable } from './job-table.ts';
import type { SlotWorker } from './worker.ts';

/**
 * The slow pulse behind the wake-ups, one for all queues of a process, so that an idle process costs two small
 * statements a second: it finds jobs whose time has come or whose wake-up was lost, and jobs of dead workers.
 */
export interface TickerOptions {
  readonly workers: ReadonlyMap<string, SlotWorker>;
  readonly table: JobTable;
  readonly logger: Logger;
  /** Pause between two looks, in milliseconds. */
  readonly pauseMs: () => number;
}

/** Looks again and again, one look at a time. */
export interface Ticker {
  /** Starts it, once. */
  start(): void;
  /** Stops it and waits for a look under way. */
  stop(): Promise<void>;
}

/** Stands still until started. */
export function createTicker({ workers, table, logger, pauseMs }: TickerOptions): Ticker {
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  let stopped = false;
  let failures = 0;

  async function look(): Promise<void> {
    for (const { queue, id, state } of await table.reclaimLost()) {
      if (state === 'failed')
        logger.error({ queue, job: id }, 'a job failed for good: its workers were lost each time');
      else logger.warn({ queue, job: id }, 'a job of a lost worker will be tried again');
    }
    const idle = [...workers].filter(([, worker]) => worker.hasFreeSlot()).map(([queue]) => queue);
    if (idle.length === 0) return;
    for (const queue of await table.withWork(idle)) workers.get(queue)?.wake();
  }

  function tick(): void {
    looking = look()
      .then(() => {
        failures = 0;
      })
      .catch((thrown: unknown) => {
        failures += 1;
        logger[failures === 1 ? 'warn' : 'debug']({ error: toError(thrown) }, 'cannot look after the queues');
      })
      .finally(plan);
  }

  function plan(): void {
    if (!stopped) timer = setTimeout(tick, pauseMs());
  }

  return {
    start() {
      if (!timer) plan();
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await looking;
    },
  };
}
