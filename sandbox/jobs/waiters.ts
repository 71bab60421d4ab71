import { toError } from '../../platform/errors.ts';
import type { Job } from './job.ts';

/** The callers that wait for the end of jobs. */
export interface Waiters {
  /** Resolves with the ended job; rejects when the signal fires first. */
  wait(id: string, signal: AbortSignal): Promise<Job>;
  /** Resolves the waits for this job. */
  ended(job: Job): void;
}

/** Creates an empty list. */
export function createWaiters(): Waiters {
  const waiting = new Map<string, Set<(job: Job) => void>>();
  return {
    wait(id, signal) {
      return new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const set = waiting.get(id) ?? new Set();
        waiting.set(id, set);
        const give = (job: Job) => {
          signal.removeEventListener('abort', giveUp);
          resolve(job);
        };
        const giveUp = () => {
          set.delete(give);
          if (set.size === 0) waiting.delete(id);
          reject(toError(signal.reason));
        };
        signal.addEventListener('abort', giveUp, { once: true });
        set.add(give);
      });
    },
    ended(job) {
      for (const give of waiting.get(job.id) ?? []) give(job);
      waiting.delete(job.id);
    },
  };
}
