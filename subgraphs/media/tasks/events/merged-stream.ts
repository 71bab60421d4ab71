/** Several streams as one, which can be left at any time. */
export interface MergedStream<Value> {
  readonly iterator: Required<AsyncIterableIterator<Value>>;
  /** Joins a stream; its values come in its order. One value per stream waits at most, then the stream is not read. */
  add(source: AsyncIterable<Value>): void;
  /** Ends the stream, with an error unless it is null. What waits is dropped. */
  end(error: Error | null): void;
}

interface Waiting<Value> {
  readonly value: Value;
  readonly taken: () => void;
}

const DONE = { value: undefined, done: true } as const;

/** Makes it; `onEnd` is called once, when it was ended or left. */
export function createMergedStream<Value>(onEnd: () => void): MergedStream<Value> {
  const ready: Waiting<Value>[] = [];
  const readers: PromiseWithResolvers<IteratorResult<Value>>[] = [];
  let ended = false;
  let failure: Error | null = null;

  function end(error: Error | null): void {
    if (ended) return;
    ended = true;
    failure = error;
    for (const { taken } of ready.splice(0)) taken();
    for (const reader of readers.splice(0)) settle(reader);
    onEnd();
  }
  function settle(reader: PromiseWithResolvers<IteratorResult<Value>>): void {
    const error = failure;
    failure = null;
    if (error === null) reader.resolve(DONE);
    else reader.reject(error);
  }
  function offer(value: Value): Promise<void> | undefined {
    const reader = readers.shift();
    if (reader !== undefined) {
      reader.resolve({ value, done: false });
      return undefined;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    ready.push({ value, taken: resolve });
    return promise;
  }
  async function pump(source: AsyncIterable<Value>): Promise<void> {
    try {
      for await (const value of source) {
        if (ended) return;
        await offer(value);
      }
    } catch (error) {
      end(error instanceof Error ? error : new Error(String(error)));
    }
  }
  function next(): Promise<IteratorResult<Value>> {
    const waiting = ready.shift();
    waiting?.taken();
    if (waiting !== undefined) return Promise.resolve({ value: waiting.value, done: false });
    const reader = Promise.withResolvers<IteratorResult<Value>>();
    if (ended) settle(reader);
    else readers.push(reader);
    return reader.promise;
  }
  const leave = () => end(null);
  return { iterator: createIterator({ next, leave }), add: (source) => void pump(source), end };
}

function createIterator<Value>(stream: {
  readonly next: () => Promise<IteratorResult<Value>>;
  readonly leave: () => void;
}): Required<AsyncIterableIterator<Value>> {
  return {
    next: stream.next,
    return() {
      stream.leave();
      return Promise.resolve(DONE);
    },
    throw(thrown) {
      stream.leave();
      return Promise.reject(thrown);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
