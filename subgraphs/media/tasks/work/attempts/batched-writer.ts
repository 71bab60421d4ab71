import { outsideSpans } from '../../../../../platform/tracing/span.ts';

/** How what is to be written gathers. */
export interface BatchedWriterOptions<Item, Result> {
  /** Most items in one write, and writes at once. */
  readonly most: number;
  readonly atOnce: number;
  /** Two items of one key are never written together; the later one waits. */
  readonly toKey: (item: Item) => string;
  /** Writes them all or none; answers in their order. */
  readonly write: (items: readonly Item[]) => Promise<readonly Result[]>;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (thrown: unknown) => void;
}

/**
 * Writes together what arrives in one turn of the event loop, or while others are written: the busier, the more. When a write
 * fails each of its items is written alone, so that only those fail that can not be written. Bounded by whoever waits for
 * the answers.
 */
export function createBatchedWriter<Item, Result>(
  options: BatchedWriterOptions<Item, Result>,
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = [];
  let writes = 0;
  let isScheduled = false;

  function begin(): void {
    isScheduled = false;
    while (writes < options.atOnce && waiting.length > 0) {
      const { batch, rest } = take(options, waiting);
      waiting = rest;
      writes += 1;
      void writeBatch(options, batch).then(() => {
        writes -= 1;
        schedule();
      });
    }
  }
  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    outsideSpans(() => setImmediate(begin));
  }
  return (item) => {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    waiting.push({ item, resolve, reject });
    schedule();
    return promise;
  };
}

/** The first of each key, as many as are written together, and what has to wait. */
function take<Item, Result>(
  { most, toKey }: BatchedWriterOptions<Item, Result>,
  waiting: readonly Waiting<Item, Result>[],
) {
  const batch = new Map<string, Waiting<Item, Result>>();
  const rest: Waiting<Item, Result>[] = [];
  for (const entry of waiting) {
    const key = toKey(entry.item);
    if (batch.size < most && !batch.has(key)) batch.set(key, entry);
    else rest.push(entry);
  }
  return { batch: [...batch.values()], rest };
}

/** Never rejects: whoever waits for an item gets its failure. */
async function writeBatch<Item, Result>(
  options: BatchedWriterOptions<Item, Result>,
  batch: readonly Waiting<Item, Result>[],
): Promise<void> {
  try {
    const results = await options.write(batch.map(({ item }) => item));
    batch.forEach(({ resolve }, index) => resolve(results[index] as Result));
  } catch (thrown) {
    if (batch.length > 1) await Promise.all(batch.map((entry) => writeBatch(options, [entry])));
    else batch[0]?.reject(thrown);
  }
}
