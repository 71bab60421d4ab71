import { AppError } from '../../../platform/errors.ts';
import { isFinal, type TaskEvent } from './task.ts';

/**
 * One follower of one task: a cursor, the few events it has read and not handed out yet, and who waits for the next
 * one. It only reads while somebody waits, so a slow client costs a cursor and at most one page of events.
 */
export interface EventSubscriber {
  readonly taskId: string;
  readonly iterator: AsyncIterableIterator<TaskEvent>;
  cursor(): number;
  /** A wake-up: the task's log goes up to here. */
  reached(seq: number): void;
  /** What the database says on a slow tick. */
  compare(lastSeq: number, ended: boolean): void;
  /** The answer to `feed`: rows of the task in order, perhaps older ones too, perhaps none. */
  take(rows: readonly TaskEvent[]): void;
  /** Ends it when nobody has taken anything for that long though there is something. */
  endWhenSlow(now: number, afterMs: number): void;
  /** Ends it: with an error, or as a task's end does. Whoever waits is told at once. */
  end(reason: Error | null): void;
}

export interface EventSubscriberOptions {
  readonly taskId: string;
  readonly after: number;
  readonly signal: AbortSignal;
  /** Asks for rows above the cursor; `take` brings them. */
  readonly feed: (subscriber: EventSubscriber) => void;
  readonly unregister: (subscriber: EventSubscriber) => void;
}

interface Waiting {
  readonly resolve: (result: IteratorResult<TaskEvent>) => void;
  readonly reject: (reason: Error) => void;
}

const DONE: IteratorResult<TaskEvent> = { done: true, value: undefined };

export function createEventSubscriber(options: EventSubscriberOptions): EventSubscriber {
  const { taskId, after, signal, feed, unregister } = options;
  let cursor = after;
  /** How far the log is known to go; above the cursor there is something to read. */
  let known = after;
  /** How far it was known to go when rows were last asked for. */
  let asked = after;
  let ready: TaskEvent[] = [];
  let waiting: Waiting[] = [];
  let ended = false;
  let failure: Error | null = null;
  let lastTaken = performance.now();

  function finish(reason: Error | null): void {
    if (ended) return;
    ended = true;
    failure = reason;
    signal.removeEventListener('abort', abort);
    unregister(subscriber);
    const left = waiting;
    waiting = [];
    for (const { resolve, reject } of left) {
      if (failure === null) resolve(DONE);
      else reject(failure);
      failure = null;
    }
  }
  function abort(): void {
    ready = [];
    finish(null);
  }
  /** Hands out what is there; asks for more while somebody waits and there may be more. */
  function serve(): void {
    while (waiting.length > 0 && ready.length > 0) {
      const event = ready.shift();
      if (event !== undefined) waiting.shift()?.resolve({ done: false, value: event });
    }
    if (ended || waiting.length === 0 || known <= cursor) return;
    asked = known;
    feed(subscriber);
  }
  function next(): Promise<IteratorResult<TaskEvent>> {
    lastTaken = performance.now();
    const event = ready.shift();
    if (event !== undefined) return Promise.resolve({ done: false, value: event });
    if (ended) {
      const reason = failure;
      failure = null;
      return reason === null ? Promise.resolve(DONE) : Promise.reject(reason);
    }
    return new Promise((resolve, reject) => {
      waiting.push({ resolve, reject });
      serve();
    });
  }
  const subscriber: EventSubscriber = {
    taskId,
    iterator: {
      next,
      return: () => {
        abort();
        return Promise.resolve(DONE);
      },
      throw: (error: unknown) => {
        abort();
        return Promise.reject(error);
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    },
    cursor: () => cursor,
    reached(seq) {
      known = Math.max(known, seq);
      serve();
    },
    compare(lastSeq, hasEnded) {
      if (hasEnded && cursor >= lastSeq) finish(null);
      else subscriber.reached(lastSeq);
    },
    take(rows) {
      const fresh = rows.filter((event) => event.seq > cursor);
      const last = fresh.at(-1);
      if (last === undefined) {
        // There is nothing above the cursor yet. What was announced since the question is asked for again.
        if (rows.length === 0 && known === asked) known = cursor;
      } else {
        cursor = last.seq;
        ready.push(...fresh);
      }
      if (last !== undefined && isFinal(last.state)) leaveReady();
      else serve();
    },
    endWhenSlow(now, afterMs) {
      const idle = waiting.length === 0 && (ready.length > 0 || known > cursor);
      if (!idle || now - lastTaken < afterMs) return;
      ready = [];
      finish(new AppError('UNAVAILABLE', 'this subscriber was too slow; resume with afterSeq', { retryAfter: 1 }));
    },
    end: finish,
  };
  /** The end event has been read: nothing more will come, what is ready is still handed out. */
  function leaveReady(): void {
    serve();
    finish(null);
  }
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  return subscriber;
}
