import { Worker } from 'node:worker_threads';

import {
  type Measurable,
  type Measures,
  readRange,
  type FromMeasurer,
  type ToMeasurer,
} from './measurable.ts';

/** Longest time for one file; then the thread is ended and the file has no measures. */
const DEADLINE_MS = 10_000;
/** Most threads at once; further files wait. */
const MAX_THREADS = 2;

const idle: Worker[] = [];
const waiting: (() => void)[] = [];
let busy = 0;

/**
 * Size and length of a video or audio file, read from its index in ranges, in a thread with a deadline: a crafted file
 * must not stop the process. A damaged or too costly one keeps its type only.
 */
export async function measureRecording(
  file: Measurable,
  contentType: string,
  deadlineMs = DEADLINE_MS,
): Promise<Measures> {
  if (busy >= MAX_THREADS) await new Promise<void>((resolve) => waiting.push(resolve));
  busy += 1;
  let thread: Worker | undefined;
  try {
    // Throws where the machine has no more threads; the next file must not wait for this one then.
    thread = idle.pop() ?? startThread();
    const measures = await ask(thread, { file, contentType, deadlineMs });
    if (measures === null) return { contentType, width: null, height: null, duration: null };
    thread.unref();
    idle.push(thread);
    return measures;
  } finally {
    if (thread !== undefined && !idle.includes(thread)) void thread.terminate();
    busy -= 1;
    waiting.shift()?.();
  }
}

/** Enough for the index of a film of two hours; a crafted file takes no more of the process's memory. */
const THREAD_LIMITS = { maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 4 };

function startThread(): Worker {
  const thread = new Worker(new URL('./recording-thread.ts', import.meta.url), {
    resourceLimits: THREAD_LIMITS,
  });
  // An error that comes when nobody waits any more would end the process.
  thread.on('error', () => undefined);
  // An idle thread that dies is replaced for the next file.
  thread.on('exit', () => {
    const index = idle.indexOf(thread);
    if (index >= 0) idle.splice(index, 1);
  });
  return thread;
}

/** The measures; null when the thread took too long or died. Throws the store's errors. */
function ask(
  thread: Worker,
  { file, contentType, deadlineMs }: { file: Measurable; contentType: string; deadlineMs: number },
): Promise<Measures | null> {
  thread.ref();
  return new Promise((resolve, reject) => {
    const end = (act: () => void) => {
      clearTimeout(deadline);
      thread.removeAllListeners('message');
      thread.removeListener('error', onDeath);
      thread.removeListener('exit', onDeath);
      act();
    };
    const onDeath = () => end(() => resolve(null));
    const deadline = setTimeout(onDeath, deadlineMs);
    thread.once('error', onDeath);
    thread.once('exit', onDeath);
    thread.on('message', (message: FromMeasurer) => {
      if (message.kind === 'measured') return end(() => resolve(message.measures));
      return void readRange(file, message).then(
        (content) => say(thread, { kind: 'range', read: message.read, content }),
        (error: unknown) => {
          say(thread, { kind: 'range', read: message.read, content: null });
          // A failure of the store says nothing about the file.
          end(() => reject(error));
        },
      );
    });
    say(thread, { kind: 'measure', bytes: file.bytes, contentType });
  });
}

function say(thread: Worker, message: ToMeasurer): void {
  thread.postMessage(message);
}
