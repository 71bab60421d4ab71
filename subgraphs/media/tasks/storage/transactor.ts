import type { EventBus } from '../../../../platform/events/event-bus.ts';
import type { NewJob, Queue } from '../../../../platform/queue/queue.ts';
import type { MediaDatabase, MediaTransaction } from '../../database/database.ts';
import { appendEvents, type AppendedEvent, type NewEvent } from './event-store.ts';

/**
 * Runs transactions of the task engine, and publishes after their commit which tasks have new events and which queues
 * have new jobs. Nothing is published of what was rolled back. After a deadlock a transaction is run again.
 */
export interface Transactor {
  run<Result>(body: (scope: TransactionScope) => Promise<Result>): Promise<Result>;
  /** Runs one statement that is a transaction by itself; when it has written, these queues are woken. */
  runAlone<Result>(
    statement: (database: MediaDatabase) => Promise<Result | null>,
    queues: readonly string[],
  ): Promise<Result | null>;
  /** Appends outside of a larger transaction, and publishes. */
  append(events: readonly NewEvent[]): Promise<readonly AppendedEvent[]>;
}

/** One transaction; what it publishes is published after its commit. */
export interface TransactionScope {
  readonly transaction: MediaTransaction;
  append(events: readonly NewEvent[]): Promise<readonly AppendedEvent[]>;
  enqueue(...jobs: readonly NewJob[]): Promise<void>;
  /** Tells a queue after commit that a slot has become free. */
  freed(queue: string): void;
  /** Publishes on another topic after commit. */
  publish(topic: string, key: string, version: number): void;
  /** Runs after the commit; never for what was rolled back. */
  afterCommit(action: () => void): void;
}

export interface TransactorOptions {
  readonly database: MediaDatabase;
  readonly queue: Queue;
  readonly bus: EventBus;
}

/** Topic of tasks' newest event numbers on the event bus. */
export const TASK_TOPIC = 'task';
/** Topic of cancel requests, for the workers of the task. */
export const CANCEL_TOPIC = 'cancel';

/** Topic of attempts that have become due, for the pollers. */
export const POLL_TOPIC = 'poll';

/** Makes the transactor of one process. */
export function createTransactor({ database, queue, bus }: TransactorOptions): Transactor {
  const publish = (events: readonly AppendedEvent[]): void => {
    for (const event of events) bus.publish(TASK_TOPIC, event.taskId, event.seq);
  };
  async function runOnce<Result>(body: (scope: TransactionScope) => Promise<Result>): Promise<Result> {
    const appended: AppendedEvent[] = [];
    const queues = new Set<string>();
    const freed = new Set<string>();
    const actions: (() => void)[] = [];
    const publications: (readonly [topic: string, key: string, version: number])[] = [];
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
        freed: (name) => void freed.add(name),
        publish: (...publication) => void publications.push(publication),
        afterCommit: (action) => void actions.push(action),
      }),
    );
    publish(appended);
    for (const publication of publications) bus.publish(...publication);
    for (const name of queues) queue.wake(name);
    for (const name of freed.difference(queues)) queue.freed(name);
    for (const action of actions) action();
    return result;
  }
  return {
    run: (body) => retryOnDeadlock(() => runOnce(body)),
    async runAlone(statement, queues) {
      const result = await retryOnDeadlock(() => statement(database));
      if (result !== null) for (const name of new Set(queues)) queue.wake(name);
      return result;
    },
    async append(events) {
      const rows = await retryOnDeadlock(() => appendEvents(database, events));
      publish(rows);
      return rows;
    },
  };
}

/** Most runs of one statement or transaction. */
const MAX_RUNS = 4;

/** Runs a statement or transaction again after a deadlock; any other error is thrown on. */
export async function retryOnDeadlock<Result>(run: () => Promise<Result>): Promise<Result> {
  for (let runs = 1; ; runs += 1) {
    try {
      return await run();
    } catch (error) {
      if (runs >= MAX_RUNS || !isSerializationFailure(error)) throw error;
    }
  }
}

/** Deadlock or serialization failure: PostgreSQL asks for the same transaction again. */
function isSerializationFailure(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === '40P01' || code === '40001';
}
