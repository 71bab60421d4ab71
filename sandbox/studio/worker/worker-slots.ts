import { startWorker } from './process.ts';
import type { WorkerProcess } from './process.ts';

/** A process and how often it was used. */
interface Worker {
  readonly process: WorkerProcess;
  used: number;
}

/** Who may use which rendering process: at most so many, each by one at a time, the others in a bounded line. */
export interface WorkerSlots {
  /** A free process, started when there is none and may be one; waits otherwise. Rejects when the line is full or the signal fires. */
  acquire(signal: AbortSignal): Promise<Worker>;
  /** Gives a process back; one that is worn out is replaced. */
  release(worker: Worker, rssBytes: number): void;
  /** Kills every process; none starts again. Resolves when all are gone. */
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

/** No process at first. */
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
      const place = idle.indexOf(worker);
      if (place >= 0) idle.splice(place, 1);
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
