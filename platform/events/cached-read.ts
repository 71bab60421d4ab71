import { toError } from '../errors.ts';
import type { Logger } from '../process/logger.ts';
import type { EventBus } from './event-bus.ts';

/** A value read from the database that is kept until another process says that it changed. */
export interface CachedRead<Value> {
  /** The kept value, else what `read` gives. A read that fails is not kept. */
  get(read: () => Promise<Value>): Promise<Value>;
  /** The value has changed: every process reads it again. */
  changed(): void;
  close(): void;
}

/** Longest time that a lost wake-up goes unnoticed. */
const MAX_AGE_MS = 10_000;

/** Makes the cache of one value; `topic` is the topic of the bus that says that it changed. */
export function createCachedRead<Value>(bus: EventBus, topic: string): CachedRead<Value> {
  let known: { readonly at: number; readonly value: Promise<Value> } | null = null;
  const forget = (): void => {
    known = null;
  };
  const stops = [bus.listen(topic, forget), bus.onGap(forget)];
  return {
    get(read) {
      const now = performance.now();
      if (known !== null && now - known.at <= MAX_AGE_MS) return known.value;
      // Kept before it has been read: a change during the read makes the next caller read again.
      const entry = { at: now, value: read() };
      known = entry;
      entry.value.catch(() => {
        if (known === entry) known = null;
      });
      return entry.value;
    },
    changed() {
      forget();
      bus.publish(topic, 'all', Date.now());
    },
    close() {
      for (const stop of stops) stop();
    },
  };
}

interface SharedStateOptions {
  readonly bus: EventBus;
  readonly logger: Logger;
  /** The topic of the bus that says that the state changed. */
  readonly topic: string;
  /** Reads all of it. */
  readonly load: () => Promise<void>;
  /** What the log says when it could not be read. */
  readonly problem: string;
}

/** Keeps a state that `load` has read in step with the other processes. */
export function followChanges({ bus, logger, topic, load, problem }: SharedStateOptions) {
  const reload = (): void => {
    load().catch((thrown: unknown) => logger.warn({ error: toError(thrown) }, problem));
  };
  const stops = [bus.listen(topic, reload), bus.onGap(reload)];
  return {
    /** Reads it again in the background. */
    reload,
    /** It was changed here: reads it again, and so do the others. */
    changed: async (): Promise<void> => {
      await load();
      bus.publish(topic, 'all', Date.now());
    },
    stop: (): void => {
      for (const stop of stops) stop();
    },
  };
}
