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
