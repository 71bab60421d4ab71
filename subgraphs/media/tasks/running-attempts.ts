import type { EventBus } from '../../../platform/events/event-bus.ts';
import type { MediaDatabase } from '../database/database.ts';
import type { AttemptKey } from '../domain/attempt.ts';
import { readAttempts } from './storage/attempt-store.ts';
import { pollAttemptNow } from './storage/poll-store.ts';
import { POLL_TOPIC } from './storage/transactor.ts';

/** The running attempts, for the webhooks of their upstreams. */
export interface RunningAttempts {
  /** Id of the binding that an attempt runs at; null when it does not run. */
  bindingOf(key: AttemptKey): Promise<string | null>;
  /** Makes a running attempt due now, and wakes the pollers. */
  makeDue(key: AttemptKey): Promise<void>;
}

/** Reads and wakes them over the media schema. */
export function createRunningAttempts(options: {
  readonly database: MediaDatabase;
  readonly bus: EventBus;
}): RunningAttempts {
  const { database, bus } = options;
  return {
    async bindingOf({ taskId, step, number }) {
      const attempts = await readAttempts(database, [taskId]);
      const attempt = attempts.find((entry) => entry.step === step && entry.number === number);
      return attempt?.state === 'RUNNING' ? attempt.binding : null;
    },
    async makeDue(key) {
      const name = `${key.taskId}/${key.step}/${key.number}`;
      if (await pollAttemptNow(database, key)) bus.publish(POLL_TOPIC, name, Date.now());
    },
  };
}
