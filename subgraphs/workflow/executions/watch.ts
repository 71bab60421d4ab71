import { notFound } from '../../../platform/errors.ts';
import type { EventBus } from '../../../platform/events/event-bus.ts';
import { isEnded, statusOfTask, type ExecutionEvent } from '../domain/execution.ts';
import { executionTopic, type ExecutionLifecycle } from './lifecycle.ts';
import type { MediaClient } from './media-client.ts';
import type { ExecutionStore, StoredExecution } from './store.ts';

/** What watching an execution needs. */
export interface WatchDependencies {
  readonly store: ExecutionStore;
  readonly media: MediaClient;
  readonly lifecycle: ExecutionLifecycle;
  readonly bus: EventBus;
}

/** Who watches which execution, and from where on. */
export interface WatchRequest {
  readonly id: string;
  readonly afterSeq: number;
  readonly traceId: string;
  readonly signal: AbortSignal;
}

/** Wake-ups may be lost; after this many milliseconds a waiting subscriber looks by itself. */
const lookAgainMs = 2000;

/**
 * An execution's log: its task's log in media, in the words of executions. Until media has the task it waits for the
 * start; when the start was refused, one FAILED entry is all there is.
 */
export function watchExecution(
  dependencies: WatchDependencies,
  request: WatchRequest,
): AsyncIterableIterator<ExecutionEvent> {
  const leaving = new AbortController();
  const signal = AbortSignal.any([request.signal, leaving.signal]);
  return leavable(entries(dependencies, { ...request, signal }), { signal, leave: () => leaving.abort() });
}

async function* entries(
  dependencies: WatchDependencies,
  { id, afterSeq, traceId, signal }: WatchRequest,
): AsyncGenerator<ExecutionEvent> {
  const execution = await untilStarted(dependencies, id, signal);
  if (execution === null) return;
  if (execution.startedAt === null && isEnded(execution.status)) {
    if (afterSeq < 1) yield refusalOf(execution);
    return;
  }
  for await (const entry of dependencies.media.watch({ id: execution.taskId, afterSeq, traceId, signal })) {
    const { seq, at, state, stage, progress } = entry;
    const status = statusOfTask(state);
    // The end notice may still be under way: whoever reads of the end must find the execution ended.
    if (isEnded(status)) await dependencies.lifecycle.settle(execution);
    yield { executionId: id, seq, at, status, stage, progress };
  }
}

function refusalOf({ id, endedAt, createdAt, status, stage, progress }: StoredExecution): ExecutionEvent {
  return { executionId: id, seq: 1, at: endedAt ?? createdAt, status, stage, progress };
}

/** The execution once it is no longer PENDING; null when the subscriber left before. */
async function untilStarted(
  { store, bus }: WatchDependencies,
  id: string,
  signal: AbortSignal,
): Promise<StoredExecution | null> {
  const bell = createBell(signal);
  const removals = [
    bus.listen(executionTopic, (key) => {
      if (key === id) bell.ring();
    }),
    bus.onGap(() => bell.ring()),
  ];
  try {
    while (!signal.aborted) {
      const [execution] = await store.byIds([id]);
      if (execution === undefined) throw notFound('execution', id);
      if (execution.status !== 'PENDING') return execution;
      await bell.rung(lookAgainMs);
    }
    return null;
  } finally {
    for (const remove of removals) remove();
  }
}

/** Remembers a ring that came while nobody waited, so that none is missed between a look and the next wait. */
function createBell(signal: AbortSignal) {
  let rung = false;
  let wake: (() => void) | null = null;
  const ring = (): void => {
    rung = true;
    wake?.();
  };
  signal.addEventListener('abort', ring, { once: true });
  const wait = async (longestMs: number): Promise<void> => {
    if (!rung && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      const timer = setTimeout(resolve, longestMs);
      await promise;
      clearTimeout(timer);
      wake = null;
    }
    rung = false;
  };
  return { ring, rung: wait };
}

const done = { value: undefined, done: true } as const;

/**
 * A generator queues `return()` behind a pending `next()`, so that a subscriber who leaves a quiet execution would stay
 * subscribed: this ends the pending `next()` at once and lets the generator clean up by the signal.
 */
function leavable<Value>(
  source: AsyncGenerator<Value>,
  { signal, leave }: { readonly signal: AbortSignal; readonly leave: () => void },
): AsyncIterableIterator<Value> {
  const waiting = new Set<(result: IteratorResult<Value>) => void>();
  signal.addEventListener(
    'abort',
    () => {
      for (const resolve of waiting) resolve(done);
      waiting.clear();
    },
    { once: true },
  );
  const iterator: AsyncIterableIterator<Value> = {
    next() {
      if (signal.aborted) return Promise.resolve(done);
      const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<Value>>();
      waiting.add(resolve);
      source
        .next()
        .then(resolve, reject)
        .finally(() => waiting.delete(resolve));
      return promise;
    },
    return() {
      leave();
      return Promise.resolve(done);
    },
    throw(thrown) {
      leave();
      return Promise.reject(thrown);
    },
    [Symbol.asyncIterator]: () => iterator,
  };
  return iterator;
}
