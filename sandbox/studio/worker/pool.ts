import type { WorkerRequest } from './messages.ts';
import { createWorkerSlots } from './worker-slots.ts';
import type { WorkerSlotsOptions } from './worker-slots.ts';

/** A pool of rendering processes: started when needed, one request at a time, replaced after a number of requests. */
export interface WorkerPool {
  /** Runs a request when a process is free. Rejects when the queue is full, on timeout, abort, or when the process dies. */
  run(request: WorkerRequest, options: RunOptions): Promise<unknown>;
  /** Kills every process and rejects all requests. Resolves when all processes have ended. */
  close(): Promise<void>;
}

export interface RunOptions {
  readonly onProgress?: ((percent: number, stage: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** A shorter timeout than the pool's, in milliseconds. */
  readonly timeoutMs?: number | undefined;
}

export interface WorkerPoolOptions extends WorkerSlotsOptions {
  /** Timeout of a request in milliseconds, without waiting; then its process is killed. */
  readonly timeoutMs: number;
}

/** Creates a pool; the first request starts the first process. */
export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const slots = createWorkerSlots(options);
  const closing = new AbortController();
  return {
    async run(request, { onProgress, signal, timeoutMs = options.timeoutMs }) {
      const leave = signal === undefined ? closing.signal : AbortSignal.any([closing.signal, signal]);
      leave.throwIfAborted();
      const worker = await slots.acquire(leave);
      // The timeout starts here, without the time in the queue.
      const stop = AbortSignal.any([leave, AbortSignal.timeout(Math.min(timeoutMs, options.timeoutMs))]);
      const kill = () => worker.process.kill();
      stop.addEventListener('abort', kill, { once: true });
      try {
        const { value, rssBytes } = await worker.process.run(request, onProgress ?? (() => undefined));
        slots.release(worker, rssBytes);
        return value;
      } catch (error) {
        stop.throwIfAborted(); // killed by us: throws the signal's reason
        slots.release(worker, 0);
        throw error;
      } finally {
        stop.removeEventListener('abort', kill);
      }
    },
    async close() {
      closing.abort(new Error('the studio is closing'));
      await slots.close();
    },
  };
}
