import type { WorkerRequest } from './messages.ts';
import { createWorkerSlots } from './worker-slots.ts';
import type { WorkerSlotsOptions } from './worker-slots.ts';

/** Rendering processes: started when they are needed, used one request at a time, replaced when worn out. */
export interface WorkerPool {
  /** Does a request as soon as a process is free. Rejects when the line is full, the work takes too long, the signal fires or the process dies. */
  run(request: WorkerRequest, options: RunOptions): Promise<unknown>;
  /** Kills every process; whatever waits or runs is rejected. Resolves when all are gone. */
  close(): Promise<void>;
}

export interface RunOptions {
  readonly onProgress?: ((percent: number, stage: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Less time than the pool gives, in milliseconds. */
  readonly timeoutMs?: number | undefined;
}

export interface WorkerPoolOptions extends WorkerSlotsOptions {
  /** Milliseconds that one request may take, waiting not included; then its process is killed. */
  readonly timeoutMs: number;
}

/** A pool without processes; the first request starts the first. */
export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const places = createWorkerSlots(options);
  const closing = new AbortController();
  return {
    async run(request, { onProgress, signal, timeoutMs = options.timeoutMs }) {
      const leave = signal === undefined ? closing.signal : AbortSignal.any([closing.signal, signal]);
      leave.throwIfAborted();
      const worker = await places.acquire(leave);
      // Counted from here: a hundred videos in the line are no reason to give up the last.
      const stop = AbortSignal.any([leave, AbortSignal.timeout(Math.min(timeoutMs, options.timeoutMs))]);
      const kill = () => worker.process.kill();
      stop.addEventListener('abort', kill, { once: true });
      try {
        const { value, rssBytes } = await worker.process.run(request, onProgress ?? (() => undefined));
        places.release(worker, rssBytes);
        return value;
      } catch (error) {
        stop.throwIfAborted(); // killed by us: the reason is the signal's
        places.release(worker, 0);
        throw error;
      } finally {
        stop.removeEventListener('abort', kill);
      }
    },
    async close() {
      closing.abort(new Error('the studio is closing'));
      await places.close();
    },
  };
}
