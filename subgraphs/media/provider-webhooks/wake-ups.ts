import { toError } from '../../../platform/errors.ts';
import type { EventBus } from '../../../platform/events/event-bus.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { MediaDatabase } from '../database/database.ts';
import type { AttemptKey } from '../tasks/storage/attempt-store.ts';
import { pollAttemptNow } from '../tasks/storage/poll-store.ts';
import { POLL_TOPIC } from '../tasks/storage/transactor.ts';

/** Makes attempts due because somebody said that something happened to them. */
export interface Hints {
  /** Makes an attempt due at once; one that was hinted at just now becomes due once more when its pause is over. */
  hint(key: AttemptKey): void;
  /** Resolves when everything that was begun is done; what waits for its pause is dropped. */
  close(): Promise<void>;
}

export interface HintsOptions {
  readonly database: MediaDatabase;
  readonly bus: EventBus;
  readonly logger: Logger;
  /** Shortest time between two hints at one attempt, in milliseconds (default 1,000). */
  readonly pauseMs?: number;
}

/** Most attempts whose pause is running; hints at further ones are dropped, and polling finds out all the same. */
const MAX_PAUSING = 10_000;

/** Makes it; within `pauseMs` (milliseconds) an attempt is hinted at once, and once more at the end if need be. */
export function createHints({ database, bus, logger, pauseMs = 1_000 }: HintsOptions): Hints {
  /** Attempts in their pause, and whether another hint came in it. */
  const pausing = new Map<string, { timer: NodeJS.Timeout; key: AttemptKey; isWanted: boolean }>();
  const writing = new Set<Promise<void>>();

  function write(name: string, key: AttemptKey): void {
    const written = pollAttemptNow(database, key)
      .then((isRunning) => {
        if (isRunning) bus.publish(POLL_TOPIC, name, Date.now());
      })
      .catch((error: unknown) => logger.warn({ error: toError(error) }, 'a hint at an attempt was lost'))
      .finally(() => writing.delete(written));
    writing.add(written);
  }
  function begin(name: string, key: AttemptKey): void {
    write(name, key);
    const timer = setTimeout(() => {
      const { isWanted = false } = pausing.get(name) ?? {};
      pausing.delete(name);
      if (isWanted) begin(name, key);
    }, pauseMs);
    timer.unref();
    pausing.set(name, { timer, key, isWanted: false });
  }
  return {
    hint(key) {
      const name = `${key.taskId}/${key.step}/${key.number}`;
      const entry = pausing.get(name);
      if (entry !== undefined) entry.isWanted = true;
      else if (pausing.size < MAX_PAUSING) begin(name, key);
    },
    async close() {
      for (const { timer } of pausing.values()) clearTimeout(timer);
      pausing.clear();
      await Promise.all(writing);
    },
  };
}
