import { AppError, toError } from '../../../../platform/errors.ts';
import type { EventBus } from '../../../../platform/events/event-bus.ts';
import { noMetrics, type Metrics } from '../../../../platform/metrics/metrics.ts';
import type { Logger } from '../../../../platform/process/logger.ts';
import { outsideSpans } from '../../../../platform/tracing/span.ts';
import type { MediaDatabase } from '../../database/database.ts';
import { isFinal, type TaskState } from '../../domain/task.ts';
import { readEvents, readHeads, type EventCursor } from '../storage/event-store.ts';
import { TASK_TOPIC } from '../storage/transactor.ts';
import { createEventSubscriber, type EventSubscriber, type TaskLog } from './event-subscriber.ts';

/**
 * The subscribers of tasks' events in this process. One per process. A subscriber registers first, then reads the
 * rows above its cursor, and on each wake-up reads again from its cursor: events come from rows only, so there is
 * no gap and no duplicate, whatever happens to wake-ups. Waiting costs no connection.
 */
export type EventHub = ReturnType<typeof createEventHub>;

interface Subscription {
  readonly taskId: string;
  /** Only events with a higher number. */
  readonly after: number;
  readonly signal: AbortSignal;
  /** The task as it was just read: an ended one without further events needs no waiting. */
  readonly state: TaskState;
  readonly lastSeq: number;
}

/** Times of the hub. */
export interface EventHubLimits {
  /** Pause between comparisons of cursors with the database, in milliseconds: what a lost wake-up costs at most. */
  readonly slowTickMs: number;
  /** Milliseconds after which a subscriber is ended that reads none of the events waiting for it. */
  readonly slowClientMs: number;
}

export interface EventHubOptions extends Partial<EventHubLimits> {
  readonly database: MediaDatabase;
  readonly bus: EventBus;
  readonly logger: Logger;
  /** Of this process (default: none). */
  readonly metrics?: Metrics | undefined;
}

/** Most events per task and read; a subscriber that is further behind reads again. */
const PAGE = 100;
/** Most subscribers or tasks in one query. */
const MAX_READERS = 1_000;

/** Makes the hub of this process; it listens to the bus while it has subscribers. */
export function createEventHub(options: EventHubOptions) {
  const { bus, logger, slowTickMs = 2_000 } = options;
  const subscribers = new Map<string, Set<EventSubscriber>>();
  const reader = createReader(options);
  const compare = createComparison(options, subscribers);
  let stopListening: (() => void) | null = null;

  function listen(): () => void {
    const look = () => void compare().catch(reporter(logger, 'cursors could not be compared'));
    const removals = [
      bus.listen(TASK_TOPIC, (taskId, seq) => {
        for (const subscriber of subscribers.get(taskId) ?? []) subscriber.advanceTo(seq);
      }),
      bus.onGap(look),
    ];
    const timer = outsideSpans(() => setInterval(look, slowTickMs));
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
    const own = subscribers.get(subscriber.taskId);
    own?.delete(subscriber);
    if (own?.size === 0) subscribers.delete(subscriber.taskId);
    if (subscribers.size > 0 || stopListening === null) return;
    stopListening();
    stopListening = null;
  }
  return {
    subscribe({ taskId, after, signal, state, lastSeq }: Subscription): TaskLog {
      const subscriber = createEventSubscriber({
        taskId,
        after,
        signal,
        requestRows: () => reader.requestRows(subscriber),
        unregister: () => unregister(subscriber),
      });
      if (isFinal(state) && after >= lastSeq) subscriber.end(null);
      else if (!signal.aborted) {
        register(subscriber);
        subscriber.advanceTo(Math.max(lastSeq, after + 1));
      }
      return subscriber.iterator;
    },
    subscriberCount: (): number => listSubscribers(subscribers).length,
    close(): void {
      const reason = new AppError('UNAVAILABLE', 'the server stops; resume with afterSeq', { retryAfter: 1 });
      for (const subscriber of listSubscribers(subscribers)) subscriber.end(reason);
    },
  };
}

type Subscribers = ReadonlyMap<string, ReadonlySet<EventSubscriber>>;

function listSubscribers(subscribers: Subscribers): readonly EventSubscriber[] {
  return [...subscribers.values()].flatMap((own) => [...own]);
}

function reporter(logger: Logger, message: string): (error: unknown) => void {
  return (error) => logger.warn({ error: toError(error) }, message);
}

/** Reads rows for all requesting subscribers in one query; later requests are served by the next one. */
function createReader({ database, logger, metrics = noMetrics }: EventHubOptions) {
  const observe = metrics.histogram(
    'kiln_event_lag_seconds',
    'From the writing of an event until it is handed to those who follow its task.',
  );
  const requesting = new Set<EventSubscriber>();
  let reading = false;

  async function readRequested(): Promise<void> {
    const readers = [...requesting].slice(0, MAX_READERS);
    for (const reader of readers) requesting.delete(reader);
    const rows = await readEvents(database, lowestCursors(readers), PAGE);
    const byTask = Map.groupBy(rows, (event) => event.taskId);
    const now = Date.now();
    for (const reader of readers) {
      const own = byTask.get(reader.taskId) ?? [];
      // What was written before they came is history, not lag.
      for (const { at } of own) if (at >= reader.since) observe({}, Math.max(0, now - at.getTime()) / 1000);
      reader.receive(own);
    }
  }
  function schedule(): void {
    if (reading || requesting.size === 0) return;
    reading = true;
    setImmediate(() => {
      void readRequested()
        // The subscribers stay behind their tasks, and the slow tick makes them read again.
        .catch(reporter(logger, 'events could not be read'))
        .finally(() => {
          reading = false;
          schedule();
        });
    });
  }
  return {
    requestRows(subscriber: EventSubscriber): void {
      requesting.add(subscriber);
      schedule();
    },
  };
}

/** The slow tick: subscribers behind their task read, slow ones are ended. One at a time. */
function createComparison(
  { database, slowClientMs = 30_000 }: EventHubOptions,
  subscribers: Subscribers,
): () => Promise<void> {
  let comparing = false;
  async function compareAll(): Promise<void> {
    const now = performance.now();
    for (const subscriber of listSubscribers(subscribers)) subscriber.endWhenSlow(now, slowClientMs);
    const ids = [...subscribers.keys()];
    for (let from = 0; from < ids.length; from += MAX_READERS) {
      for (const head of await readHeads(database, ids.slice(from, from + MAX_READERS))) {
        const own = [...(subscribers.get(head.id) ?? [])];
        for (const subscriber of own) subscriber.compare(head.lastSeq, isFinal(head.state));
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

/** One cursor per task, that of the subscriber furthest behind; the others skip what they have. */
function lowestCursors(readers: readonly EventSubscriber[]): readonly EventCursor[] {
  const lowest = new Map<string, number>();
  for (const reader of readers) {
    const cursor = reader.cursor();
    lowest.set(reader.taskId, Math.min(lowest.get(reader.taskId) ?? cursor, cursor));
  }
  return [...lowest].map(([taskId, after]) => ({ taskId, after }));
}
