import type { EventBus } from '../../../platform/events/event-bus.ts';

/** A row that is watched: its topic on the bus, its id, and how it is read. */
export interface WatchedRow<Row extends { readonly version: number }> {
  readonly bus: EventBus;
  readonly topic: string;
  readonly id: string;
  readonly read: () => Promise<Row>;
  readonly signal: AbortSignal;
}

/** Wake-ups may be lost; after this many milliseconds a waiting subscriber reads by itself. */
const READ_AGAIN_MS = 2_000;

/** The row as it is, then at each higher version, until the signal is aborted. Several changes may come as one. */
export async function* watchVersions<Row extends { readonly version: number }>(
  watched: WatchedRow<Row>,
): AsyncGenerator<Row> {
  const { bus, topic, id, read, signal } = watched;
  const notifier = createNotifier(signal);
  const removals = [
    bus.listen(topic, (key) => {
      if (key === id) notifier.notify();
    }),
    bus.onGap(() => notifier.notify()),
  ];
  try {
    let seen = 0;
    while (!signal.aborted) {
      const row = await read();
      if (row.version > seen) {
        seen = row.version;
        yield row;
      }
      await notifier.wait(READ_AGAIN_MS);
    }
  } finally {
    for (const remove of removals) remove();
  }
}

/** Remembers what came while nobody waited, so that nothing is missed between a read and the next wait. */
function createNotifier(signal: AbortSignal) {
  let isNotified = false;
  let wake: (() => void) | null = null;
  const notify = (): void => {
    isNotified = true;
    wake?.();
  };
  signal.addEventListener('abort', notify, { once: true });
  const wait = async (longestMs: number): Promise<void> => {
    if (!isNotified && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      const timer = setTimeout(resolve, longestMs);
      await promise;
      clearTimeout(timer);
      wake = null;
    }
    isNotified = false;
  };
  return { notify, wait };
}

const DONE = { value: undefined, done: true } as const;

/**
 * A generator as a stream that can be left at any time. A generator queues `return()` behind a pending `next()`, so that
 * a subscriber who leaves a quiet stream would stay subscribed: this ends the pending `next()` at once and lets the
 * generator clean up by the signal that it is given.
 */
export function leavableStream<Value>(
  signal: AbortSignal,
  generate: (signal: AbortSignal) => AsyncGenerator<Value>,
): AsyncIterableIterator<Value> {
  const leaving = new AbortController();
  const ended = AbortSignal.any([signal, leaving.signal]);
  const source = generate(ended);
  const waiting = new Set<(result: IteratorResult<Value>) => void>();
  ended.addEventListener(
    'abort',
    () => {
      for (const resolve of waiting) resolve(DONE);
      waiting.clear();
      // One that waits at a yield does not see the signal. Its failure has nobody left to hear of it.
      source.return(undefined).catch(() => undefined);
    },
    { once: true },
  );
  const iterator: AsyncIterableIterator<Value> = {
    next() {
      if (ended.aborted) return Promise.resolve(DONE);
      const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<Value>>();
      waiting.add(resolve);
      source
        .next()
        .then(resolve, reject)
        .finally(() => waiting.delete(resolve));
      return promise;
    },
    return() {
      leaving.abort();
      return Promise.resolve(DONE);
    },
    throw(thrown) {
      leaving.abort();
      return Promise.reject(thrown);
    },
    [Symbol.asyncIterator]: () => iterator,
  };
  return iterator;
}
