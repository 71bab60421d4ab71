import { AppError, toError } from '../../../../platform/errors.ts';
import type { EventBus } from '../../../../platform/events/event-bus.ts';
import type { Logger } from '../../../../platform/process/logger.ts';
import type { MediaDatabase } from '../../database/database.ts';
import { isFinal, type TaskEvent, type TaskState } from '../../domain/task.ts';
import { readEvents, readHeads, type EventCursor } from '../storage/event-store.ts';
import { TASK_TOPIC } from '../storage/transactor.ts';
import { createEventSubscriber, type EventSubscriber } from './event-subscriber.ts';

/**
 * Everybody in this process who follows a task's events. One per process. A subscriber registers first, then reads the
 * rows above its cursor, and on each wake-up reads again from its cursor: what it gets comes from rows only, so there is
 * no gap and no duplicate, whatever happens to wake-ups. Waiting costs no connection.
 */
export interface EventHub {
  subscribe(subscription: Subscription): AsyncIterableIterator<TaskEvent>;
  subscriberCount(): number;
  close(): void;
}

interface Subscription {
  readonly taskId: string;
  /** Events with a higher number are wanted. */
  readonly after: number;
  readonly signal: AbortSignal;
  /** The task as it was just read: an ended one without further events needs no waiting. */
  readonly state: TaskState;
  readonly lastSeq: number;
}

/** How patient the hub is. */
export interface EventHubLimits {
  /** Pause between comparisons of cursors with the database, in milliseconds: what a lost wake-up costs at most. */
  readonly slowTickMs: number;
  /** Milliseconds after which a subscriber that takes nothing, though there is something, is ended. */
  readonly slowClientMs: number;
}

export interface EventHubOptions extends Partial<EventHubLimits> {
  readonly database: MediaDatabase;
  readonly bus: EventBus;
  readonly logger: Logger;
}

/** Most events per task and read; whoever is further behind reads again. */
const PAGE = 100;
/** Most subscribers or tasks in one query. */
const MAX_READERS = 1_000;

/** Makes the hub of this process; it listens while somebody subscribes. */
export function createEventHub(options: EventHubOptions): EventHub {
  const { bus, logger, slowTickMs = 2_000 } = options;
  const subscribers = new Map<string, Set<EventSubscriber>>();
  const feeder = createFeeder(options);
  const compare = createComparison(options, subscribers);
  let stopListening: (() => void) | null = null;

  function listen(): () => void {
    const look = () => void compare().catch(reporter(logger, 'cursors could not be compared'));
    const removals = [
      bus.listen(TASK_TOPIC, (taskId, seq) => {
        for (const subscriber of subscribers.get(taskId) ?? []) subscriber.reached(seq);
      }),
      bus.onGap(look),
    ];
    const timer = setInterval(look, slowTickMs);
    return () => {
      clearInterval(timer);
      for (const remove of removals) remove();
    };
  }
  function register(subscriber: EventSubscriber): void {
    const own = subscribers.get(subscriber.taskId) ?? new Set();
    subscribers.set(subscriber.taskId, own.add(subscriber));
    stopListening ??= listen();
  }
  function unregister(subscriber: EventSubscriber): void {
    feeder.forget(subscriber);
    const own = subscribers.get(subscriber.taskId);
    own?.delete(subscriber);
    if (own?.size === 0) subscribers.delete(subscriber.taskId);
    if (subscribers.size > 0 || stopListening === null) return;
    stopListening();
    stopListening = null;
  }
  return {
    subscribe({ taskId, after, signal, state, lastSeq }) {
      const subscriber = createEventSubscriber({
        taskId,
        after,
        signal,
        feed: () => feeder.feed(subscriber),
        unregister: () => unregister(subscriber),
      });
      if (isFinal(state) && after >= lastSeq) subscriber.end(null);
      else if (!signal.aborted) {
        register(subscriber);
        subscriber.reached(Math.max(lastSeq, after + 1));
      }
      return subscriber.iterator;
    },
    subscriberCount: () => everybody(subscribers).length,
    close() {
      const reason = new AppError('UNAVAILABLE', 'the server stops; resume with afterSeq', { retryAfter: 1 });
      for (const subscriber of everybody(subscribers)) subscriber.end(reason);
    },
  };
}

type Subscribers = ReadonlyMap<string, ReadonlySet<EventSubscriber>>;

function everybody(subscribers: Subscribers): readonly EventSubscriber[] {
  return [...subscribers.values()].flatMap((own) => [...own]);
}

function reporter(logger: Logger, message: string): (error: unknown) => void {
  return (error) => logger.warn({ error: toError(error) }, message);
}

/** Reads for all that want to, in one query; those who come meanwhile are served by the next. */
function createFeeder({ database, logger }: EventHubOptions) {
  const hungry = new Set<EventSubscriber>();
  let reading = false;

  async function readForAll(): Promise<void> {
    const readers = [...hungry].slice(0, MAX_READERS);
    for (const reader of readers) hungry.delete(reader);
    const rows = await readEvents(database, lowestCursors(readers), PAGE);
    const byTask = Map.groupBy(rows, (event) => event.taskId);
    for (const reader of readers) reader.take(byTask.get(reader.taskId) ?? []);
  }
  function schedule(): void {
    if (reading || hungry.size === 0) return;
    reading = true;
    setImmediate(() => {
      void readForAll()
        // They stay behind their tasks, and the slow tick makes them read again.
        .catch(reporter(logger, 'events could not be read'))
        .finally(() => {
          reading = false;
          schedule();
        });
    });
  }
  return {
    feed(subscriber: EventSubscriber): void {
      hungry.add(subscriber);
      schedule();
    },
    forget: (subscriber: EventSubscriber) => void hungry.delete(subscriber),
  };
}

/** The slow tick: whoever is behind its task reads, whoever takes nothing is ended. One at a time. */
function createComparison(
  { database, slowClientMs = 30_000 }: EventHubOptions,
  subscribers: Subscribers,
): () => Promise<void> {
  let comparing = false;
  async function compareAll(): Promise<void> {
    const now = performance.now();
    for (const subscriber of everybody(subscribers)) subscriber.endWhenSlow(now, slowClientMs);
    const ids = [...subscribers.keys()];
    for (let from = 0; from < ids.length; from += MAX_READERS) {
      for (const head of await readHeads(database, ids.slice(from, from + MAX_READERS))) {
        const own = [...(subscribers.get(head.id) ?? [])];
        for (const subscriber of own) subscriber.compare(head.last_seq, isFinal(head.state));
      }
    }
  }
  return async () => {
    if (comparing) return;
    comparing = true;
    try {
      await compareAll();
    } finally {
      comparing = false;
    }
  };
}

/** One cursor per task: of several readers the one who is furthest behind; the others skip what they have. */
function lowestCursors(readers: readonly EventSubscriber[]): readonly EventCursor[] {
  const lowest = new Map<string, number>();
  for (const reader of readers) {
    const cursor = reader.cursor();
    lowest.set(reader.taskId, Math.min(lowest.get(reader.taskId) ?? cursor, cursor));
  }
  return [...lowest].map(([taskId, after]) => ({ taskId, after }));
}
