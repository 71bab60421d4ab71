import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Milliseconds of processor time so far of all threads of these processes, to the microsecond (Linux). */
export function threadsMs(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + readThreads(pid).reduce((all, thread) => all + thread, 0), 0);
}

function readThreads(pid: number): readonly number[] {
  return threadIds(pid).map((thread) => {
    try {
      const [nanoseconds = '0'] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
      return Number(nanoseconds) / 1e6;
    } catch {
      // It ended between the two looks.
      return 0;
    }
  });
}

function threadIds(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** Processor time so far of each of these processes. */
export type ByProcess = ReadonlyMap<number, number>;

/** Looks at each. */
export function readTimes(pids: readonly number[]): ByProcess {
  return new Map(pids.map((pid) => [pid, threadsMs([pid])]));
}

/** Milliseconds between two looks; processes that have ended meanwhile took theirs along. */
export function usedBetween(before: ByProcess, after: ByProcess): number {
  return [...after].reduce((sum, [pid, used]) => sum + used - (before.get(pid) ?? 0), 0);
}

/** The server of a data directory, and what it has started for its connections and its own work. */
export function postgresPids(dataDir: string): readonly number[] {
  const postmaster = Number(readFileSync(path.join(dataDir, 'postmaster.pid'), 'utf8').split('\n')[0]);
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').trim();
  return [postmaster, ...children.split(' ').filter(Boolean).map(Number)];
}
