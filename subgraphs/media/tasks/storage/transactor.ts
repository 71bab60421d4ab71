import type { EventBus } from '../../../../platform/events/event-bus.ts';
import type { NewJob, Queue } from '../../../../platform/queue/queue.ts';
import type { MediaDatabase, MediaTransaction } from '../../database/database.ts';
import { appendEvents, type AppendedEvent, type NewEvent } from './event-store.ts';

/**
 * Runs a transaction of the task engine, and tells the others after its commit: which tasks have new events, which
 * queues have new jobs. Nobody is told of what was rolled back. A transaction that PostgreSQL broke off because two
 * waited for each other is run again.
 */
export interface Transactor {
  run<Result>(body: (scope: TransactionScope) => Promise<Result>): Promise<Result>;
  /** Appends outside of a larger transaction, and announces. */
  append(events: readonly NewEvent[]): Promise<readonly AppendedEvent[]>;
}

/** What can be done within one transaction; what others hear of, they hear after its commit. */
export interface TransactionScope {
  readonly transaction: MediaTransaction;
  append(events: readonly NewEvent[]): Promise<readonly AppendedEvent[]>;
  enqueue(...jobs: readonly NewJob[]): Promise<void>;
  /** Wakes a queue after commit though nothing was enqueued: a place has become free. */
  wake(queue: string): void;
  /** Announces on another topic after commit. */
  publish(topic: string, key: string, version: number): void;
}

export interface TransactorOptions {
  readonly database: MediaDatabase;
  readonly queue: Queue;
  readonly bus: EventBus;
}

/** Topic of the event bus under which a task's newest event number is announced. */
export const TASK_TOPIC = 'task';
/** Topic under which a cancel request is announced to whoever works on the task. */
export const CANCEL_TOPIC = 'cancel';

/** Topic under which an attempt that has become due is announced to the pollers. */
export const POLL_TOPIC = 'poll';

const MAX_RUNS = 4;

/** Makes it for one process. */
export function createTransactor({ database, queue, bus }: TransactorOptions): Transactor {
  const publish = (events: readonly AppendedEvent[]): void => {
    for (const event of events) bus.publish(TASK_TOPIC, event.taskId, event.seq);
  };
  async function once<Result>(body: (scope: TransactionScope) => Promise<Result>): Promise<Result> {
    const appended: AppendedEvent[] = [];
    const queues = new Set<string>();
    const announcements: (readonly [topic: string, key: string, version: number])[] = [];
    const result = await database.transaction().execute((transaction) =>
      body({
        transaction,
        async append(events) {
          const rows = await appendEvents(transaction, events);
          appended.push(...rows);
          return rows;
        },
        async enqueue(...jobs) {
          await queue.enqueue(transaction, ...jobs);
          for (const job of jobs) if (job.startAfterSeconds === undefined) queues.add(job.queue);
        },
        wake: (name) => void queues.add(name),
        publish: (...announcement) => void announcements.push(announcement),
      }),
    );
    publish(appended);
    for (const announcement of announcements) bus.publish(...announcement);
    for (const name of queues) queue.wake(name);
    return result;
  }
  return {
    async run(body) {
      for (let runs = 1; ; runs += 1) {
        try {
          return await once(body);
        } catch (error) {
          if (runs >= MAX_RUNS || !isBrokenOff(error)) throw error;
        }
      }
    },
    async append(events) {
      const rows = await appendEvents(database, events);
      publish(rows);
      return rows;
    },
  };
}

/** Deadlock or serialization failure: PostgreSQL asks for the same transaction again. */
function isBrokenOff(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === '40P01' || code === '40001';
}
