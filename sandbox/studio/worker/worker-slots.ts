import { startWorker } from './process.ts';
import type { WorkerProcess } from './process.ts';

/** A process and how often it was used. */
interface Worker {
  readonly process: WorkerProcess;
  used: number;
}

/** Assigns rendering processes: a limited number, one request each, and a bounded queue. */
export interface WorkerSlots {
  /** A free process, started if allowed; waits otherwise. Rejects when the queue is full or the signal is aborted. */
  acquire(signal: AbortSignal): Promise<Worker>;
  /** Releases a process; replaces it when it has reached its limits. */
  release(worker: Worker, rssBytes: number): void;
  /** Kills every process; none starts again. Resolves when all have ended. */
  close(): Promise<void>;
}

export interface WorkerSlotsOptions {
  /** Most processes at once. */
  readonly workers: number;
  /** Most requests that wait. */
  readonly queueLimit: number;
  /** A process is replaced after this many requests, */
  readonly requestsPerWorker: number;
  /** or once it holds this much memory: canvases wait for the garbage collector. */
  readonly maxRssBytes: number;
}

/** Creates the slots, without processes. */
export function createWorkerSlots(options: WorkerSlotsOptions): WorkerSlots {
  const idle: Worker[] = [];
  const alive = new Set<Worker>();
  const waiting: ((worker: Worker) => void)[] = [];
  let isClosed = false;

  const start = (): Worker => {
    const worker: Worker = { process: startWorker(), used: 0 };
    alive.add(worker);
    void worker.process.gone.then(() => {
      alive.delete(worker);
      const index = idle.indexOf(worker);
      if (index >= 0) idle.splice(index, 1);
      serveNext();
    });
    return worker;
  };
  const free = (): Worker | null => {
    const ready = idle.pop();
    if (ready?.process.isAlive() === true) return ready;
    return alive.size < options.workers ? start() : null;
  };
  const serveNext = (): void => {
    if (waiting.length === 0 || isClosed) return;
    const worker = free();
    if (worker !== null) waiting.shift()?.(worker);
  };
  const acquire = (signal: AbortSignal): Promise<Worker> => {
    const worker = waiting.length === 0 ? free() : null;
    if (worker !== null) return Promise.resolve(worker);
    if (waiting.length >= options.queueLimit)
      return Promise.reject(new Error('too many pictures wait for the renderer'));
    return new Promise((resolve, reject) => {
      const take = (input: Worker) => {
        signal.removeEventListener('abort', leave);
        resolve(input);
      };
      const leave = () => {
        waiting.splice(waiting.indexOf(take), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', leave, { once: true });
      waiting.push(take);
    });
  };
  return {
    acquire,
    release(worker, rssBytes) {
      worker.used += 1;
      if (worker.used >= options.requestsPerWorker || rssBytes > options.maxRssBytes) worker.process.kill();
      else if (worker.process.isAlive()) idle.push(worker);
      serveNext();
    },
    async close() {
      isClosed = true;
      const all = [...alive];
      for (const { process } of all) process.kill();
      await Promise.all(all.map(({ process }) => process.gone));
    },
  };
}
