import { toError } from '../errors.ts';
import type { Logger } from '../process/logger.ts';
import { createLoop } from '../process/loop.ts';
import type { Claimed } from './claim.ts';
import type { ClaimedJobs } from './claimed-jobs.ts';
import type { JobHandler, QueueWorker, WorkOptions } from './queue.ts';
import { createRunningJobs } from './running-jobs.ts';
import type { WaitingJobs } from './waiting-jobs.ts';

/** The worker of one queue, which claims jobs while slots are free. */
export interface SlotWorkerOptions {
  readonly queue: string;
  readonly options: WorkOptions;
  readonly handler: JobHandler;
  readonly claimed: ClaimedJobs;
  readonly waiting: WaitingJobs;
  readonly fetch: (limit: number) => Promise<Claimed>;
  readonly logger: Logger;
  /** Called when jobs were released: another process may claim them now. */
  readonly onReleased: () => void;
}

/** A worker that knows whether it has a free slot. */
export interface SlotWorker extends QueueWorker {
  /** Whether it could claim a job now. */
  hasFreeSlot(): boolean;
  /** Claims jobs now if it has left some waiting. */
  freed(): void;
}

/** Interval at which leases are extended: three fit into one. */
const EXTEND_MS = 3000;
/** Most jobs fetched in one statement. */
const FETCH_LIMIT = 200;
/** Pause after an error of the database or of `capacity`. */
const ERROR_PAUSE_MS = 1000;
/** Until then the ticker of all queues wakes the worker for jobs that are due, also for those that wait at its start. */
const UNTIL_WOKEN_MS = 2 ** 31 - 1;

/** Starts the worker. Stop it before the pool is closed. */
export function startSlotWorker(context: SlotWorkerOptions): SlotWorker {
  const { queue, options, logger } = context;
  const stopped = new AbortController();
  // There may be more jobs than free slots, so a freed slot is a reason to fetch.
  let hasMore = false;
  const freed = () => {
    if (hasMore) loop.wake();
  };
  const running = createRunningJobs({ ...context, onFree: freed });

  /** Claims what it can; true when claiming again at once makes sense. */
  async function claim(): Promise<boolean> {
    const free = options.slots - running.size;
    hasMore = true;
    if (free <= 0) return false;
    const allowed = options.capacity ? Math.floor(await options.capacity()) : free;
    const wanted = Math.min(free, allowed, FETCH_LIMIT);
    if (wanted <= 0 || stopped.signal.aborted) return false;
    const claimed = await context.fetch(wanted);
    for (const job of claimed.jobs) running.begin(job);
    hasMore = claimed.hasMore;
    return hasMore && running.size < options.slots;
  }

  let isFailing = false;
  async function tick(): Promise<void> {
    isFailing = true;
    while (!stopped.signal.aborted && (await claim()));
    isFailing = false;
  }
  const everyMs = () => (isFailing ? ERROR_PAUSE_MS : UNTIL_WOKEN_MS);
  const loop = createLoop({ tick, everyMs, logger, name: `queue ${queue}` });
  const extending = setInterval(() => {
    running
      .extend()
      .catch((thrown: unknown) =>
        logger.warn({ error: toError(thrown), queue }, 'leases of jobs could not be extended'),
      );
  }, EXTEND_MS);
  loop.start(UNTIL_WOKEN_MS);
  let stopping: Promise<void> | undefined;

  async function stop(graceSeconds: number): Promise<void> {
    stopped.abort();
    // The loop first: a current fetch may still bring jobs.
    await loop.stop();
    const unfinished = await running.finish(graceSeconds * 1000);
    clearInterval(extending);
    if (unfinished > 0) context.onReleased();
  }

  return {
    wake: () => loop.wake(),
    freed,
    async hasten() {
      await running.hasten();
      await context.waiting.hasten(queue);
      loop.wake();
    },
    hasFreeSlot: () => !stopped.signal.aborted && running.size < options.slots,
    stop: (graceSeconds) => (stopping ??= stop(graceSeconds)),
  };
}
