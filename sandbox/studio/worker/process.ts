import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import path from 'node:path';
import type { Readable } from 'node:stream';

import { StudioError } from '../types/media-types.ts';
import { UnreadableImage } from '../types/studio.ts';
import type { WorkerFailure, WorkerMessage, WorkerRequest } from './messages.ts';

type OnProgress = (percent: number, stage: string) => void;

/** One rendering process of the pool. */
export interface WorkerProcess {
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
export function startWorker(): WorkerProcess {
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
  return failure === 'UNREADABLE_PICTURE' ? new UnreadableImage(message) : new StudioError(failure, message);
}
