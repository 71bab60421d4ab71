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
