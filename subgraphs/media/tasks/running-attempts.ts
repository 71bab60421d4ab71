import type { EventBus } from '../../../platform/events/event-bus.ts';
import type { AttemptRow, MediaDatabase } from '../database/database.ts';
import type { AttemptKey } from '../domain/attempt.ts';
import { findRunning } from './storage/attempt-store.ts';
import { pollAttemptNow } from './storage/poll-store.ts';
import { POLL_TOPIC } from './storage/transactor.ts';

/** Where an attempt was begun. */
type Place = Pick<AttemptRow, 'binding' | 'bindingName' | 'provider' | 'upstream'>;

/** The running attempts, for the webhooks of their upstreams. */
export type RunningAttempts = ReturnType<typeof createRunningAttempts>;

/** Reads and wakes them over the media schema. */
export function createRunningAttempts(options: { readonly database: MediaDatabase; readonly bus: EventBus }) {
  const { database, bus } = options;
  return {
    /** The attempt of a reference, and where it was begun; null when it does not run. */
    async find(reference: string): Promise<{ readonly key: AttemptKey; readonly place: Place } | null> {
      const found = await findRunning(database, reference);
      if (found === undefined) return null;
      const { taskId, step, number } = found;
      return { key: { taskId, step, number }, place: found };
    },
    /** Makes a running attempt due now, and wakes the pollers. */
    async makeDue(key: AttemptKey): Promise<void> {
      const name = `${key.taskId}/${key.step}/${key.number}`;
      if (await pollAttemptNow(database, key)) bus.publish(POLL_TOPIC, name, Date.now());
    },
  };
}
