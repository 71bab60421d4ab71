import { addAbortListener } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

import { AppError, type AppErrorCode } from '../platform/errors.ts';
import type { ResultStream } from '../platform/graphql/operations/executor.ts';
import { type DataOf, printDocument } from './documents/graphql.ts';
import { TaskEvents, type TaskFields } from './documents/media/task.ts';
import { requireData, type Execution } from './replies/results.ts';
import { isEnded } from './replies/task.ts';

/**
 * The wait of a synchronous operation: it subscribes to the events of its task. Nothing is polled; a wait holds an iterator
 * and a timer, no database connection.
 */

/** One event of a task. */
export type Progress = DataOf<typeof TaskEvents>['taskProgress'];

const NEVER = new AbortController().signal;

/** Milliseconds before a stream of events that broke off is opened again. */
const resumeDelayMs = 1_000;

/** Whose events are followed, from where. */
export interface FollowOptions extends Execution {
  readonly task: Pick<TaskFields, 'id' | 'state' | 'lastSeq'>;
  /** Ends the following, not the task. */
  readonly stop: AbortSignal;
}

/** What to wait for. The signal of the context ends the wait, not the task. */
export interface WaitOptions extends Execution, Pick<FollowOptions, 'task'> {
  readonly maxWaitSeconds: number;
  /** Ends the wait, because the server stops. */
  readonly stopping?: AbortSignal | undefined;
  /** Called with each event. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/**
 * Returns when the task has ended, the time is up or the caller has disconnected: read the task to know which. A stream
 * that breaks off is resumed after the last event seen. Throws when the caller may not watch the task.
 */
export async function waitForEnd({
  task,
  maxWaitSeconds,
  stopping = NEVER,
  onProgress,
  ...execution
}: WaitOptions): Promise<void> {
  if (isEnded(task)) return;
  const timeUp = new AbortController();
  const timer = setTimeout(() => timeUp.abort(), maxWaitSeconds * 1_000);
  const stop = AbortSignal.any([execution.context.signal, timeUp.signal, stopping]);
  try {
    for await (const progress of followTask({ ...execution, task, stop })) onProgress?.(progress);
  } finally {
    clearTimeout(timer);
  }
}

/** The events of a task after `lastSeq`, to its end or the stop. A stream that breaks off is resumed. */
export async function* followTask({ task, stop, ...execution }: FollowOptions): AsyncGenerator<Progress> {
  let afterSeq = task.lastSeq;
  while (!stop.aborted && !isEnded(task)) {
    try {
      for await (const progress of followProgress({ ...execution, id: task.id, afterSeq, stop })) {
        afterSeq = progress.seq;
        yield progress;
        if (isEnded(progress)) return;
      }
      // The stream completes by itself only after the end event (or by the stop, which ends the wait too).
      return;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      // Events are pruned some time after the end.
      if (error.code === 'EVENTS_EXPIRED') return;
      if (!interruptions.includes(error.code)) throw error;
    }
    await pause(resumeDelayMs, undefined, { signal: stop }).catch(() => undefined);
  }
}

/** Codes of a stream that broke off, to be opened again; any other error is the reply. */
const interruptions: readonly AppErrorCode[] = ['UNAVAILABLE', 'INTERNAL', 'RATE_LIMITED'];

interface Following extends Execution {
  readonly id: string;
  readonly afterSeq: number;
  readonly stop: AbortSignal;
}

async function* followProgress({
  executor,
  context,
  id,
  afterSeq,
  stop,
}: Following): AsyncGenerator<Progress> {
  const request = { query: printDocument(TaskEvents), variables: { id, afterSeq }, context };
  const stream = await executor.subscribe(request);
  if (!isStream(stream)) {
    requireData(stream);
    return;
  }
  // Ends the source at once, even while the next event is pending.
  const listener = addAbortListener(stop, () => void stream.return?.());
  try {
    for await (const event of stream) yield (requireData(event) as DataOf<typeof TaskEvents>).taskProgress;
  } finally {
    listener[Symbol.dispose]();
  }
}

function isStream(value: object): value is ResultStream {
  return Symbol.asyncIterator in value;
}
