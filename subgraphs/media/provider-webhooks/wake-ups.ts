import { toError } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { AttemptKey } from '../domain/attempt.ts';

/** Has attempts polled at once because their upstreams said that something happened. */
export type WakeUps = ReturnType<typeof createWakeUps>;

export interface WakeUpOptions {
  /** Makes a running attempt due now. */
  readonly makeDue: (key: AttemptKey) => Promise<void>;
  readonly logger: Logger;
  /** Shortest time between two wake-ups of one attempt, in milliseconds (default 1,000). */
  readonly pauseMs?: number;
}

/** Most attempts whose pause is running; wake-ups of further ones are dropped, and their next poll finds out. */
const MAX_PAUSING = 10_000;

/** Makes the wake-ups; within `pauseMs` (milliseconds) an attempt is woken at once, and once more at the end if needed. */
export function createWakeUps({ makeDue, logger, pauseMs = 1_000 }: WakeUpOptions) {
  /** Attempts in their pause, and whether another wake-up came in it. */
  const pausing = new Map<string, { readonly timer: NodeJS.Timeout; isWanted: boolean }>();
  const writing = new Set<Promise<void>>();

  function begin(name: string, key: AttemptKey): void {
    const written = makeDue(key)
      .catch((error: unknown) => logger.warn({ error: toError(error) }, 'a wake-up of an attempt was lost'))
      .finally(() => writing.delete(written));
    writing.add(written);
    const timer = setTimeout(() => {
      const { isWanted = false } = pausing.get(name) ?? {};
      pausing.delete(name);
      if (isWanted) begin(name, key);
    }, pauseMs);
    timer.unref();
    pausing.set(name, { timer, isWanted: false });
  }
  return {
    /** Makes an attempt due at once; one that was woken just now becomes due once more when its pause is over. */
    wake(key: AttemptKey): void {
      const name = `${key.taskId}/${key.step}/${key.number}`;
      const entry = pausing.get(name);
      if (entry !== undefined) entry.isWanted = true;
      else if (pausing.size < MAX_PAUSING) begin(name, key);
    },
    /** Resolves when all writes are done; wake-ups that wait for their pause are dropped. */
    async close(): Promise<void> {
      for (const { timer } of pausing.values()) clearTimeout(timer);
      pausing.clear();
      await Promise.all(writing);
    },
  };
}
