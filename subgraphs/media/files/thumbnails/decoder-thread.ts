import { Worker } from 'node:worker_threads';

/** Longest time for one file; then the thread is ended. */
const DEADLINE_MS = 20_000;

/**
 * Answer of a thread to one file: a crafted file must not stop the process, so it is decoded in a thread of its own with
 * a deadline. Null when it took too long or died.
 */
export function decodeInThread<Answer>(script: URL, file: Uint8Array): Promise<Answer | null> {
  const thread = new Worker(script, { resourceLimits: { maxOldGenerationSizeMb: 256 } });
  return new Promise<Answer | null>((resolve) => {
    const deadline = setTimeout(() => resolve(null), DEADLINE_MS);
    const end = (answer: Answer | null) => {
      clearTimeout(deadline);
      resolve(answer);
    };
    thread.once('message', end);
    thread.once('error', () => end(null));
    thread.once('exit', () => end(null));
    thread.postMessage(file);
  }).finally(() => void thread.terminate());
}
