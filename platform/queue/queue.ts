import type { Transaction } from 'kysely';

import type { Json } from '../json.ts';

/**
 * Work that must run once and survive a crash. Jobs are enqueued in the transaction of the row they belong to, so a
 * rolled-back row leaves no job and a committed one always has its job. Implemented on pg-boss in pg-boss-queue.ts.
 */
export interface Queue {
  /** Declares a queue before anything is enqueued or worked; the same name again updates its options. */
  define(name: string, options?: QueueOptions): Promise<void>;
  /**
   * Enqueues inside the caller's transaction, the jobs of one queue in one statement. After commit the caller should
   * `wake(name)`; a slow poll is the backstop.
   */
  enqueue(transaction: AnyTransaction, ...jobs: readonly NewJob[]): Promise<void>;
  /** Tells every process that the queue has work now. Never call it inside a transaction. */
  wake(name: string): void;
  /** Takes jobs while slots (and `capacity`) are free; one handler per queue and process. */
  work(name: string, options: WorkOptions, handler: JobHandler): Promise<QueueWorker>;
  /** Stops every worker: no new jobs, `graceSeconds` for running ones, the rest goes back to the queue. */
  stop(graceSeconds: number): Promise<void>;
}

/** A transaction over whichever subgraph's tables: the queue only needs its connection. */
// oxlint-disable-next-line typescript/no-explicit-any -- Kysely's Transaction is invariant in its table type
export type AnyTransaction = Transaction<any>;

export interface QueueOptions {
  /** How often a failed job is tried again before it is given up (default 5). */
  readonly retryLimit?: number;
  /** Seconds before the first retry; doubles each time, with jitter (default 1). */
  readonly retryDelaySeconds?: number;
  /** Longest pause between retries in seconds (default 300). */
  readonly retryDelayMaxSeconds?: number;
}

/** A job to be done after the commit of the transaction that enqueues it. */
export interface NewJob {
  readonly queue: string;
  readonly data: Json;
  /** A UUID; the same id again is ignored, which makes enqueuing idempotent. */
  readonly id?: string;
  /** Earliest start, in seconds from now. */
  readonly startAfterSeconds?: number;
}

/** A job in the hands of a worker. */
export interface Job {
  readonly id: string;
  readonly data: Json;
  /** 0 at the first try. */
  readonly retryCount: number;
  /** Aborted when the process stops or the job is no longer ours (its heartbeat was lost). */
  readonly signal: AbortSignal;
}

/** What a handler answers: nothing when the job is done, or that it should come back later (which is no failure). */
export type JobOutcome = void | { readonly againInSeconds: number; readonly data?: Json };

/** Does a job; a throw means that it failed and is to be tried again. */
export type JobHandler = (job: Job) => Promise<JobOutcome>;

export interface WorkOptions {
  /** Most jobs at once in this process. */
  readonly slots: number;
  /** Asked before fetching: how many more may be taken now across all processes (a binding's free places). */
  readonly capacity?: () => Promise<number>;
  /** Pause between polls when nobody woke the queue, in milliseconds (default 1,000). */
  readonly pollMs?: number;
}

/** What takes jobs from one queue in this process. */
export interface QueueWorker {
  /** Looks for jobs now. */
  wake(): void;
  stop(graceSeconds: number): Promise<void>;
}
