import { execFile } from 'node:child_process';
import { Worker } from 'node:worker_threads';

/** Longest time for one picture; then the program is ended. */
const DEADLINE_MS = 10_000;
const MAX_PICTURE_BYTES = 64 * 1024 * 1024;

/** The first picture that comes of a Matroska file, through filters if any, as PNG, by an ffmpeg on this machine. It reads and writes pipes alone. Rejects when it fails. */
export function decodeWithFfmpeg(
  program: string,
  film: Uint8Array,
  filters: readonly string[] = [],
): Promise<Buffer> {
  const arguments_ = ['-hide_banner', '-loglevel', 'error', '-protocol_whitelist', 'pipe', '-f', 'matroska'];
  const output = ['-i', 'pipe:0', ...filters, '-frames:v', '1', '-c:v', 'png', '-f', 'image2pipe', 'pipe:1'];
  const limits = { timeout: DEADLINE_MS, maxBuffer: MAX_PICTURE_BYTES, killSignal: 'SIGKILL' } as const;
  return new Promise((resolve, reject) => {
    const child = execFile(
      program,
      [...arguments_, ...output],
      { ...limits, encoding: 'buffer' },
      (error, picture) => {
        if (error === null) resolve(picture);
        else reject(error);
      },
    );
    // One that ends before it has read everything answers by its exit code.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(film);
  });
}

/** Longest time for one file; then the thread is ended. */
const THREAD_DEADLINE_MS = 20_000;

/**
 * Answer of a thread to one file: a crafted file must not stop the process, so it is decoded in a thread of its own with
 * a deadline. Null when it took too long or died.
 */
export function decodeInThread<Answer>(script: URL, file: Uint8Array): Promise<Answer | null> {
  const thread = new Worker(script, { resourceLimits: { maxOldGenerationSizeMb: 256 } });
  return new Promise<Answer | null>((resolve) => {
    const deadline = setTimeout(() => resolve(null), THREAD_DEADLINE_MS);
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
