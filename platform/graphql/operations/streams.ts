import type { ExecutionResult } from 'graphql';

/**
 * Hand-written iterators: an async generator queues `return()` behind a pending `next()`, so that a subscriber who
 * leaves an idle task would stay subscribed until its next event.
 */

/** A stream whose `return()` takes effect at once. */
export type Stream<Value> = AsyncIterableIterator<Value> & {
  return(): Promise<IteratorResult<Value>>;
  throw(thrown: unknown): Promise<IteratorResult<Value>>;
};

export interface MapStreamOptions<In, Out> {
  readonly source: AsyncIterator<In>;
  readonly map: (value: In) => Out | Promise<Out>;
  /** Makes the last value of a source (or map) that threw. Also called for a failing `return()`. */
  readonly failed: (thrown: unknown) => Out;
  /** Each ends the stream when aborted. */
  readonly signals?: readonly AbortSignal[];
  /** Called once at the end, whatever its cause. */
  readonly onEnd?: () => void;
}

/**
 * Maps a stream value by value, on demand, without buffering. `return()` reaches the source in the same tick, also
 * while a `next()` is pending (which then resolves as done), and does not wait for the source.
 */
export function mapStream<In, Out>(options: MapStreamOptions<In, Out>): Stream<Out> {
  const { source, map, failed, signals = [], onEnd } = options;
  const waiting = new Set<() => void>();
  let ended = false;

  const leaveSource = () => {
    // A failing `return()` of the source is only logged.
    Promise.try(() => source.return?.()).catch(failed);
  };
  const stop = () => {
    if (ended) return;
    end();
    leaveSource();
  };
  const end = () => {
    ended = true;
    for (const signal of signals) signal.removeEventListener('abort', stop);
    for (const release of waiting) release();
    waiting.clear();
    onEnd?.();
  };
  const step = async (release: () => void): Promise<IteratorResult<Out>> => {
    try {
      const item = await source.next();
      if (ended) return DONE;
      if (item.done === true) {
        end();
        return DONE;
      }
      const value = await map(item.value);
      return ended ? DONE : { value, done: false };
    } catch (thrown) {
      const last = failed(thrown);
      if (ended) return DONE;
      waiting.delete(release); // this one still gets its value
      stop();
      return { value: last, done: false };
    }
  };
  for (const signal of signals) {
    if (signal.aborted || ended) stop();
    else signal.addEventListener('abort', stop, { once: true });
  }

  return createStream<Out>(() => (ended ? Promise.resolve(DONE) : releasable(step, waiting)), stop);
}

/** Waits for a step, or for a release that resolves it as done. */
function releasable<Value>(
  step: (release: () => void) => Promise<IteratorResult<Value>>,
  waiting: Set<() => void>,
): Promise<IteratorResult<Value>> {
  const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<Value>>();
  const release = () => resolve(DONE);
  waiting.add(release);
  step(release)
    .finally(() => waiting.delete(release))
    .then(resolve, reject);
  return promise;
}

/** A stream and the functions that feed it. */
export interface PushStream<Value> {
  readonly stream: Stream<Value>;
  /** Adds a value; ignored after the end. */
  readonly push: (value: Value) => void;
  /** Ends after the buffered values, and after `last` when given. */
  readonly end: (last?: Value) => void;
}

export interface PushStreamOptions<Value> {
  /** Most buffered values; one more ends the stream. */
  readonly maxPending: number;
  /** Makes the last value of a reader that was too slow. */
  readonly overflow: () => Value;
  /** Called once, at the end or when the reader leaves. */
  readonly onEnd: () => void;
}

/** A stream fed from outside (a socket), with a bounded buffer. */
export function createPushStream<Value>(options: PushStreamOptions<Value>): PushStream<Value> {
  const { maxPending, overflow, onEnd } = options;
  const pending: Value[] = [];
  const waiting: ((result: IteratorResult<Value>) => void)[] = [];
  let ended = false;

  const end = (last?: Value) => {
    if (ended) return;
    if (last !== undefined) deliver(last);
    ended = true;
    for (const resolve of waiting.splice(0)) resolve(DONE);
    onEnd();
  };
  const deliver = (value: Value) => {
    const resolve = waiting.shift();
    if (resolve === undefined) pending.push(value);
    else resolve({ value, done: false });
  };
  const push = (value: Value) => {
    if (ended) return;
    if (pending.length >= maxPending) end(overflow());
    else deliver(value);
  };
  const next = (): Promise<IteratorResult<Value>> => {
    const value = pending.shift();
    if (value !== undefined) return Promise.resolve({ value, done: false });
    return ended ? Promise.resolve(DONE) : new Promise((resolve) => waiting.push(resolve));
  };
  const leave = () => {
    pending.length = 0;
    end();
  };
  return { stream: createStream(next, leave), push, end };
}

const DONE = { value: undefined, done: true } as const;

/** A stream of what `next` gives; `leave` is called when its reader leaves. */
export function createStream<Value>(
  next: () => Promise<IteratorResult<Value>>,
  leave: () => void,
): Stream<Value> {
  const stream: Stream<Value> = {
    next,
    return() {
      leave();
      return Promise.resolve(DONE);
    },
    throw(thrown) {
      leave();
      return Promise.reject(thrown);
    },
    [Symbol.asyncIterator]: () => stream,
  };
  return stream;
}

/**
 * Whether a result is said by the stream itself and not about one of its events: what fails in an event leaves the event
 * its `data`, if only null. After such a result nothing follows.
 */
export function isEndOfStream({ data, errors }: ExecutionResult): boolean {
  return data === undefined && errors !== undefined;
}

/** The same stream, for protocols that have a word of their own for a stream that failed: it ends by throwing its error. */
export function throwingAtItsEnd(stream: AsyncIterableIterator<ExecutionResult>): Stream<ExecutionResult> {
  const next = async (): Promise<IteratorResult<ExecutionResult>> => {
    const item = await stream.next();
    if (item.done === true || !isEndOfStream(item.value)) return item;
    leave();
    throw item.value.errors?.[0] ?? new Error('a stream ended with errors, and names none');
  };
  const leave = (): void => void stream.return?.();
  return createStream(next, leave);
}

/** Whether a subscription was accepted: a stream rather than one result. */
export function isStream<Value extends object>(
  result: AsyncIterableIterator<Value> | Value,
): result is AsyncIterableIterator<Value> {
  return Symbol.asyncIterator in result;
}
