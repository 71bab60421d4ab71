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
