import { AppError } from '../../../../platform/errors.ts';
import { isFinal, type TaskEvent } from '../../domain/task.ts';

/**
 * One subscriber of one task: a cursor, the events it has read and not delivered yet, and the pending calls of `next`.
 * It only reads while a call is pending, so a slow client costs a cursor and at most one page of events.
 */
export type EventSubscriber = ReturnType<typeof createEventSubscriber>;

/** The entries of one task, as one subscriber gets them. */
export interface TaskLog extends AsyncIterableIterator<TaskEvent> {
  /** Whether there are, or may be, entries that it has not been handed. */
  readonly isBehind: () => boolean;
}

export interface EventSubscriberOptions {
  readonly taskId: string;
  readonly after: number;
  readonly signal: AbortSignal;
  /** Requests rows above the cursor; `receive` gets them. */
  readonly requestRows: () => void;
  readonly unregister: () => void;
}

interface Waiting {
  readonly resolve: (result: IteratorResult<TaskEvent>) => void;
  readonly reject: (reason: Error) => void;
}

interface State {
  cursor: number;
  /** How far the log is known to go; above the cursor there is something to read. */
  known: number;
  /** How far it was known to go when rows were last requested. */
  requested: number;
  ready: TaskEvent[];
  waiting: Waiting[];
  ended: boolean;
  /** Thrown once, at the next call. */
  failure: Error | null;
  /** When an event was last read. */
  lastRead: number;
  readonly requestRows: () => void;
  /** Unregisters, and lets go of the signal. */
  readonly leave: () => void;
}

const DONE: IteratorResult<TaskEvent> = { done: true, value: undefined };

/** Makes one that has seen everything up to `options.after`. */
export function createEventSubscriber(options: EventSubscriberOptions) {
  const { taskId, after, signal } = options;
  const state: State = {
    cursor: after,
    known: after,
    requested: after,
    ready: [],
    waiting: [],
    ended: false,
    failure: null,
    lastRead: performance.now(),
    requestRows: options.requestRows,
    leave() {
      signal.removeEventListener('abort', abort);
      options.unregister();
    },
  };
  function abort(): void {
    state.ready = [];
    finish(state, null);
  }
  // An aborted subscriber is not registered, so there is nothing to unregister.
  if (signal.aborted) state.ended = true;
  else signal.addEventListener('abort', abort, { once: true });
  return {
    taskId,
    /** When it came. */
    since: new Date(),
    iterator: createIterator(state, abort),
    cursor: (): number => state.cursor,
    /** A wake-up: the task's log goes up to here. */
    advanceTo: (seq: number): void => advanceTo(state, seq),
    /** Compares the cursor with the database on a slow tick. */
    compare(lastSeq: number, hasEnded: boolean): void {
      if (hasEnded && state.cursor >= lastSeq) finish(state, null);
      else advanceTo(state, lastSeq);
    },
    /** The answer to `requestRows`: rows of the task in order, perhaps older ones too, perhaps none. */
    receive: (rows: readonly TaskEvent[]): void => receive(state, rows),
    /** Ends it when undelivered events were not read for that long. */
    endWhenSlow: (now: number, afterMs: number): void => endWhenSlow(state, now, afterMs),
    /** Ends it, with an error or as a task's end does; pending calls are settled at once. */
    end: (reason: Error | null): void => finish(state, reason),
  };
}

function createIterator(state: State, abort: () => void): TaskLog {
  return {
    isBehind: () => state.ready.length > 0 || (!state.ended && state.known > state.cursor),
    next: () => next(state),
    return: () => {
      abort();
      return Promise.resolve(DONE);
    },
    throw: (error: Error) => {
      abort();
      return Promise.reject(error);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

function next(state: State): Promise<IteratorResult<TaskEvent>> {
  state.lastRead = performance.now();
  const event = state.ready.shift();
  if (event !== undefined) return Promise.resolve({ done: false, value: event });
  if (state.ended) {
    const reason = state.failure;
    state.failure = null;
    return reason === null ? Promise.resolve(DONE) : Promise.reject(reason);
  }
  return new Promise((resolve, reject) => {
    state.waiting.push({ resolve, reject });
    serve(state);
  });
}

function advanceTo(state: State, seq: number): void {
  state.known = Math.max(state.known, seq);
  serve(state);
}

/** Delivers what is ready; requests more while a call is pending and there may be more. */
function serve(state: State): void {
  while (state.waiting.length > 0 && state.ready.length > 0) {
    const event = state.ready.shift();
    if (event !== undefined) state.waiting.shift()?.resolve({ done: false, value: event });
  }
  if (state.ended || state.waiting.length === 0 || state.known <= state.cursor) return;
  state.requested = state.known;
  state.requestRows();
}

function receive(state: State, rows: readonly TaskEvent[]): void {
  if (state.ended) return;
  const fresh = rows.filter((event) => event.seq > state.cursor);
  const last = fresh.at(-1);
  if (last !== undefined) {
    state.cursor = last.seq;
    state.ready.push(...fresh);
  } else if (rows.length === 0 && state.known === state.requested) {
    // There is nothing above the cursor yet. What was published since the request is requested again.
    state.known = state.cursor;
  }
  serve(state);
  // The end event has been read: no more will come, and what is ready is still delivered.
  if (last !== undefined && isFinal(last.state)) finish(state, null);
}

function endWhenSlow(state: State, now: number, afterMs: number): void {
  const undelivered = state.ready.length > 0 || state.known > state.cursor;
  if (state.waiting.length > 0 || !undelivered || now - state.lastRead < afterMs) return;
  state.ready = [];
  finish(
    state,
    new AppError('UNAVAILABLE', 'this subscriber was too slow; resume with afterSeq', { retryAfter: 1 }),
  );
}

function finish(state: State, reason: Error | null): void {
  if (state.ended) return;
  state.ended = true;
  state.failure = reason;
  state.leave();
  const left = state.waiting;
  state.waiting = [];
  for (const { resolve, reject } of left) {
    if (state.failure === null) resolve(DONE);
    else reject(state.failure);
    state.failure = null;
  }
}
