import { setTimeout as delay } from 'node:timers/promises';

import { toError } from '../../platform/errors.ts';
import type { Job } from './job.ts';
import type { LatencyProfile } from './latency-profile.ts';

/** The queue of one wire: runs jobs by id, in order, with limited concurrency. */
export interface JobQueue {
  /** Adds a job; it runs when its delay is over and a slot is free. */
  enqueue(id: string): void;
  /** Removes a job and aborts its run. */
  remove(id: string): void;
  /** The state of a queued or running job; null for any other. */
  findSlot(id: string): Readonly<Slot> | null;
  /** Number of queued and running jobs. */
  size(): number;
  /** Aborts all runs; resolves when they have ended. */
  stop(): Promise<void>;
}

/** The state of a queued or running job. */
export interface Slot {
  readonly abort: AbortController;
  /** 0 to 99. */
  progress: number;
  hasPreview: boolean;
}

export interface JobQueueOptions {
  readonly latency: () => LatencyProfile;
  /** Runs one job to its end. Must not reject. */
  readonly run: (id: string, slot: Slot) => Promise<void>;
}

/** Creates an empty queue. */
export function createJobQueue(options: JobQueueOptions): JobQueue {
  const slots = new Map<string, Slot>();
  const ready: string[] = [];
  const running = new Map<string, Promise<void>>();

  const pump = (): void => {
    while (running.size < options.latency().concurrency) {
      const id = ready.shift();
      if (id === undefined) return;
      const slot = slots.get(id);
      if (slot === undefined) continue;
      const run = options.run(id, slot).finally(() => {
        running.delete(id);
        slots.delete(id);
        pump();
      });
      running.set(id, run);
    }
  };
  return {
    enqueue(id) {
      const slot: Slot = { abort: new AbortController(), progress: 0, hasPreview: false };
      slots.set(id, slot);
      const waited = delay(options.latency().queuedMs, undefined, { signal: slot.abort.signal });
      const becomeReady = () => {
        ready.push(id);
        pump();
      };
      waited.then(becomeReady, () => slots.delete(id)); // rejects only when it was removed while it waited
    },
    remove(id) {
      slots.get(id)?.abort.abort();
      if (!running.has(id)) slots.delete(id);
    },
    findSlot: (id) => slots.get(id) ?? null,
    size: () => slots.size,
    async stop() {
      ready.length = 0;
      for (const slot of slots.values()) slot.abort.abort();
      await Promise.allSettled(running.values());
      slots.clear();
    },
  };
}

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
