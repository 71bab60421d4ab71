import { fork, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import type { Readable } from 'node:stream';

import { StudioError } from '../types/media-types.ts';
import { UnreadableImage } from '../types/studio.ts';
import type { WorkerFailure, WorkerMessage, WorkerRequest } from './messages.ts';

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
      return Promise.reject(new Error('too many images wait for the renderer'));
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

type OnProgress = (percent: number, stage: string) => void;

/** One rendering process of the pool. */
interface WorkerProcess {
  /** Runs one request; the process must be idle. Rejects when the process dies before it answers. */
  run(request: WorkerRequest, onProgress: OnProgress): Promise<WorkerAnswer>;
  /** Kills the process. */
  kill(): void;
  /** Resolves when the process has ended. */
  readonly gone: Promise<void>;
  isAlive(): boolean;
}

interface WorkerAnswer {
  readonly value: unknown;
  /** Resident memory of the process after the request. */
  readonly rssBytes: number;
}

/** Limit of the JavaScript heap in megabytes; pixels are outside of it. */
const HEAP_MB = 512;

/**
 * Starts a rendering process: detached, so that a Ctrl-C in the terminal does not reach it before the shutdown, and with an
 * empty environment, because it needs no secrets.
 */
function startWorker(): WorkerProcess {
  const child = fork(path.join(import.meta.dirname, 'worker.ts'), [], {
    execArgv: [`--max-old-space-size=${HEAP_MB}`],
    env: {},
    detached: true,
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const lastWords = keepTail(child.stderr);
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  return {
    run: (request, onProgress) => runOn(child, lastWords, { request, onProgress }),
    kill: () => void child.kill('SIGKILL'),
    gone,
    isAlive: () => child.exitCode === null && child.signalCode === null && child.connected,
  };
}

const KEPT_CHARACTERS = 2_000;

/** The end of the process's standard error, for the error message when it dies. */
function keepTail(stream: Readable | null): () => string {
  let tail = '';
  stream?.setEncoding('utf8').on('data', (piece: string) => {
    tail = (tail + piece).slice(-KEPT_CHARACTERS);
  });
  return () => tail.trim();
}

function runOn(
  child: ChildProcess,
  lastWords: () => string,
  { request, onProgress }: { readonly request: WorkerRequest; readonly onProgress: OnProgress },
): Promise<WorkerAnswer> {
  return new Promise((resolve, reject) => {
    const end = () => {
      child.off('message', hear);
      child.off('exit', die);
      child.off('error', reject);
    };
    const die = (code: number | null, signal: string | null) => {
      end();
      const how = signal ?? `code ${code}`;
      reject(new Error(`the renderer died (${how}) ${lastWords()}`.trim()));
    };
    const hear = (message: unknown) => {
      const said = message as WorkerMessage;
      if (said.kind === 'ready') return;
      if (said.kind === 'progress') return onProgress(said.percent, said.stage);
      end();
      if (said.kind === 'done') resolve({ value: said.value, rssBytes: said.rssBytes });
      else reject(toError(said.failure, said.message));
    };
    child.on('message', hear);
    child.once('exit', die);
    child.once('error', reject);
    child.send(request, (error) => {
      if (error === null) return;
      end();
      reject(error);
    });
  });
}

function toError(failure: WorkerFailure, message: string): Error {
  if (failure === 'UNKNOWN') return new Error(message);
  return failure === 'UNREADABLE_IMAGE' ? new UnreadableImage(message) : new StudioError(failure, message);
}
