import type { JobWithMetadata } from 'pg-boss';

import { toError } from '../../errors.ts';
import type { Logger } from '../../process/logger.ts';
import type { JobHandler, QueueWorker, WorkOptions } from '../queue.ts';
import type { JobTable } from './job-table.ts';
import { createRunningJobs, type RunningJobs } from './running-jobs.ts';

/** The worker of one queue, which claims jobs while slots are free. */
export interface SlotWorkerOptions {
  readonly queue: string;
  readonly options: WorkOptions;
  readonly handler: JobHandler;
  readonly table: JobTable;
  readonly fetch: (limit: number) => Promise<JobWithMetadata<unknown>[]>;
  readonly logger: Logger;
  /** Called when jobs were released: another process may claim them now. */
  readonly onReleased: () => void;
}

/** A worker that knows whether it has a free slot. */
export interface SlotWorker extends QueueWorker {
  /** Whether it could claim a job now. */
  hasFreeSlot(): boolean;
}

/** Interval of heartbeats: three fit into the ten seconds after which a job counts as lost. */
const HEARTBEAT_MS = 3000;
/** Most jobs fetched in one statement. */
const FETCH_LIMIT = 200;
/** Pause after an error of the database or of `capacity`. */
const ERROR_PAUSE_MS = 1000;

/** Starts the worker. Stop it before the pool is closed. */
export function startSlotWorker(context: SlotWorkerOptions): SlotWorker {
  const { queue, options, logger } = context;
  const stopped = new AbortController();
  const notifier = createNotifier(stopped.signal);
  const look = { hasMore: false };
  const running = createRunningJobs({
    ...context,
    onFree: () => {
      if (look.hasMore) notifier.notify();
    },
  });
  const heart = setInterval(() => {
    running
      .beat()
      .catch((thrown: unknown) => logger.warn({ error: toError(thrown), queue }, 'a heartbeat failed'));
  }, HEARTBEAT_MS);
  const loop = runLoop({ context, running, notifier, look, signal: stopped.signal });
  let stopping: Promise<void> | undefined;

  async function stop(graceSeconds: number): Promise<void> {
    stopped.abort();
    // The loop first: a current fetch may still bring jobs.
    await loop;
    const unfinished = await running.finish(graceSeconds * 1000);
    clearInterval(heart);
    if (unfinished > 0) context.onReleased();
  }

  return {
    wake: () => notifier.notify(),
    hasFreeSlot: () => !stopped.signal.aborted && running.size < options.slots,
    stop: (graceSeconds) => (stopping ??= stop(graceSeconds)),
  };
}

interface LoopOptions {
  readonly context: SlotWorkerOptions;
  readonly running: RunningJobs;
  readonly notifier: Notifier;
  /** `hasMore`: there may be more jobs than free slots, so a freed slot is a reason to fetch. */
  readonly look: { hasMore: boolean };
  readonly signal: AbortSignal;
}

/** Claims what it can, then sleeps until it is notified: by a wake-up, a freed slot, the queue's ticker. */
async function runLoop(loop: LoopOptions): Promise<void> {
  const { context, notifier, signal } = loop;
  let failures = 0;
  while (!signal.aborted) {
    try {
      const more = await takeJobs(loop);
      failures = 0;
      if (!more) await notifier.wait();
    } catch (thrown) {
      failures += 1;
      const level = failures === 1 ? 'warn' : 'debug';
      context.logger[level]({ error: toError(thrown), queue: context.queue }, 'cannot fetch jobs');
      await notifier.wait(ERROR_PAUSE_MS);
    }
  }
}

/** True when fetching again at once makes sense. */
async function takeJobs({ context, running, look, signal }: LoopOptions): Promise<boolean> {
  const { slots, capacity } = context.options;
  const free = slots - running.size;
  look.hasMore = true;
  if (free <= 0) return false;
  const allowed = capacity ? Math.floor(await capacity()) : free;
  const wanted = Math.min(free, allowed, FETCH_LIMIT);
  if (wanted <= 0 || signal.aborted) return false;
  const jobs = await context.fetch(wanted);
  for (const job of jobs) running.begin(job);
  look.hasMore = jobs.length === wanted;
  return look.hasMore && running.size < slots;
}

interface Notifier {
  notify(): void;
  /** Resolves at the next notification since the last wait, when the signal aborts, or after the time. */
  wait(milliseconds?: number): Promise<void>;
}

function createNotifier(signal: AbortSignal): Notifier {
  let notified = false;
  let wakeUp: (() => void) | undefined;
  const notify = () => {
    notified = true;
    wakeUp?.();
  };
  signal.addEventListener('abort', notify, { once: true });
  return {
    notify,
    async wait(milliseconds) {
      if (!notified) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wakeUp = resolve;
        const timer = milliseconds === undefined ? undefined : setTimeout(resolve, milliseconds);
        await promise;
        clearTimeout(timer);
        wakeUp = undefined;
      }
      notified = false;
    },
  };
}
