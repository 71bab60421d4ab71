import { readdirSync, readFileSync } from 'node:fs';

/** Milliseconds of processor time that all threads of a process have taken (Linux: /proc), to the microsecond. */
export function processorMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`).map((thread) => msOf(`/proc/${pid}/task/${thread}`));
  return threads.reduce((sum, ms) => sum + ms, 0);
}

/** A thread may have ended since it was listed. */
function msOf(folder: string): number {
  try {
    const [nanoseconds] = readFileSync(`${folder}/schedstat`, 'utf8').split(' ');
    return Number(nanoseconds) / 1e6;
  } catch (thrown) {
    if (
      (thrown as NodeJS.ErrnoException).code === 'ENOENT' ||
      (thrown as NodeJS.ErrnoException).code === 'ESRCH'
    )
      return 0;
    throw thrown;
  }
}
