import { AppError, type AppErrorCode } from '../platform/errors.ts';
import type { ResultStream } from '../platform/graphql/operations/executor.ts';
import { type DataOf, textOf } from './documents/graphql.ts';
import { type TaskFields, TaskEvents } from './documents/media/task.ts';
import { dataOf, type Execution } from './replies/results.ts';
import { isEnded } from './replies/task.ts';

/**
 * The wait of a synchronous operation: on the task's own events, like any other subscriber. It holds an iterator and
 * one timer, no database connection, and never asks again and again.
 */

type Progress = DataOf<typeof TaskEvents>['taskProgress'];

/** Between two tries when the stream of events broke off, milliseconds. */
const resumeDelayMs = 1_000;

/** What to wait for; the signal of the context ends the wait, the task goes on. */
export interface WaitOptions extends Execution {
  readonly task: Pick<TaskFields, 'id' | 'state' | 'lastSeq'>;
  readonly maxWaitSeconds: number;
}

/**
 * Returns when the task has ended, the ceiling has passed or the caller has hung up: read the task to know which. A
 * stream that breaks off is taken up again after the last event seen. Throws when the caller may not watch the task.
 */
export async function waitForEnd({ executor, context, task, maxWaitSeconds }: WaitOptions): Promise<void> {
  if (isEnded(task)) return;
  const stop = createStop(context.signal, maxWaitSeconds * 1_000);
  let afterSeq = task.lastSeq;
  try {
    while (!stop.isStopped()) {
      const outcome = await followOnce({ executor, context, id: task.id, afterSeq, stop });
      if (outcome.ended) return;
      afterSeq = outcome.afterSeq;
      await stop.within(resumeDelayMs);
    }
  } finally {
    stop.release();
  }
}

interface Following extends Execution {
  readonly id: string;
  readonly afterSeq: number;
  readonly stop: Stop;
}

interface Outcome {
  readonly ended: boolean;
  readonly afterSeq: number;
}

/** Follows one stream of events until the end of the task, a break, or the stop. */
async function followOnce(following: Following): Promise<Outcome> {
  let seen = following.afterSeq;
  try {
    for await (const progress of progressOf(following)) {
      seen = progress.seq;
      if (isEnded(progress)) break;
    }
    // The stream completes by itself only after the end event (or by the stop, which ends the wait too).
    return { ended: true, afterSeq: seen };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    // The log is pruned a set time after the end.
    if (error.code === 'EVENTS_EXPIRED') return { ended: true, afterSeq: seen };
    if (breaks.includes(error.code)) return { ended: false, afterSeq: seen };
    throw error;
  }
}

/** Codes of a stream that broke off, to be waited out; any other refusal is the answer. */
const breaks: readonly AppErrorCode[] = ['UNAVAILABLE', 'INTERNAL', 'RATE_LIMITED'];

async function* progressOf(following: Following): AsyncGenerator<Progress> {
  const { executor, context, id, afterSeq, stop } = following;
  const variables = { id, afterSeq };
  const stream = await executor.subscribe({ query: textOf(TaskEvents), variables, context });
  if (!isStream(stream)) {
    dataOf(stream);
    return;
  }
  // Ends the source at once, also while the next event is pending.
  const removeListener = stop.onStop(() => void stream.return?.());
  try {
    for await (const event of stream) yield (dataOf(event) as DataOf<typeof TaskEvents>).taskProgress;
  } finally {
    removeListener();
  }
}

function isStream(value: object): value is ResultStream {
  return Symbol.asyncIterator in value;
}

/** One place for everything that ends a wait from outside: the ceiling and the caller's signal. */
interface Stop {
  isStopped(): boolean;
  /** Calls back when stopped (at once when it is already); returns the removal. */
  onStop(listener: () => void): () => void;
  /** Resolves after so many milliseconds, or when stopped. */
  within(milliseconds: number): Promise<void>;
  /** Removes timer and listeners. */
  release(): void;
}

function createStop(signal: AbortSignal, maxWaitMs: number): Stop {
  const stopped = new AbortController();
  const stopNow = (): void => stopped.abort();
  const timer = setTimeout(stopNow, maxWaitMs);
  signal.addEventListener('abort', stopNow, { once: true });
  if (signal.aborted) stopNow();
  const onStop = (listener: () => void): (() => void) => {
    if (stopped.signal.aborted) listener();
    else stopped.signal.addEventListener('abort', listener, { once: true });
    return () => stopped.signal.removeEventListener('abort', listener);
  };
  return {
    isStopped: () => stopped.signal.aborted,
    onStop,
    within: async (milliseconds) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const pause = setTimeout(resolve, milliseconds);
      const removeListener = onStop(resolve);
      await promise;
      clearTimeout(pause);
      removeListener();
    },
    release: () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stopNow);
    },
  };
}
