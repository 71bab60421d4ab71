import type { Transaction } from 'kysely';

import type { Json } from '../json.ts';

/**
 * The job queue, for work that must survive a crash. Jobs are enqueued in the transaction of the row they belong to, so
 * that a rolled-back row leaves no job and a committed one always has its job. Implemented on PostgreSQL in
 * postgres-queue.ts.
 */
export interface Queue {
  /** Declares queues, before anything is enqueued or worked; again, it updates the options. */
  define(names: string | readonly string[], options?: QueueOptions): Promise<void>;
  /** Whether some process has declared the queue: what is enqueued to any other one fails. */
  isDefined(name: string): Promise<boolean>;
  /**
   * Enqueues inside the caller's transaction, all of them in one statement. After commit the caller should `wake(name)`; a
   * slow poll is the backstop. Throws INTERNAL for a queue that nobody has declared.
   */
  enqueue(transaction: AnyTransaction, ...jobs: readonly NewJob[]): Promise<void>;
  /**
   * What `enqueue` would run, to be part of one statement that writes the row as well. Throws INTERNAL for a queue that
   * nobody has declared.
   */
  enqueueing(...jobs: readonly NewJob[]): Promise<EnqueueStatement>;
  /**
   * Of these jobs' data, those that no waiting or running job of the queue has: a sweep enqueues them again. A job is
   * lost when it failed for good or was deleted.
   */
  withoutJob(name: string, data: readonly Json[]): Promise<readonly Json[]>;
  /** Wakes the workers of every process. Never call it inside a transaction. */
  wake(name: string): void;
  /**
   * `capacity` has grown: wakes the workers of every process that have left jobs waiting for it, and costs the others
   * nothing. Never call it inside a transaction.
   */
  freed(name: string): void;
  /** Works jobs while slots (and `capacity`) are free; one handler per queue and process. */
  work(name: string, options: WorkOptions, handler: JobHandler): Promise<QueueWorker>;
  /** Stops every worker: no new jobs, `graceSeconds` for running ones, the rest is released. */
  stop(graceSeconds: number): Promise<void>;
}

/** A transaction over any subgraph's tables: the queue only needs its connection. */
// oxlint-disable-next-line typescript/no-explicit-any -- Kysely's Transaction is invariant in its table type
export type AnyTransaction = Transaction<any>;

export interface QueueOptions {
  /** Number of retries of a failed job (default 5). */
  readonly retryLimit?: number;
  /** Seconds before the first retry; doubles each time, with jitter (default 1). */
  readonly retryDelaySeconds?: number;
  /** Longest pause between retries in seconds (default 300). */
  readonly retryDelayMaxSeconds?: number;
}

/** A job that runs after the commit of its transaction. */
export interface NewJob {
  readonly queue: string;
  readonly data: Json;
  /** A UUID; the same id again is ignored, so that enqueuing is idempotent. */
  readonly id?: string;
  /** Earliest start, in seconds from now. */
  readonly startAfterSeconds?: number;
  /** Whose it is: owners are served in turn, whoever has more jobs. Without one it belongs to nobody, who is one more. */
  readonly owner?: string;
  /** Of what kind it is among its owner's: each kind that waits is as likely to have the owner's turn. */
  readonly kind?: string;
}

/** Enqueues jobs. */
export interface EnqueueStatement {
  /** Takes one parameter, a JSON list of jobs, written `$1` once; of an empty list it enqueues nothing. */
  readonly text: string;
  /** The parameter. */
  readonly jobs: string;
}

/** A claimed job. */
export interface Job {
  readonly id: string;
  readonly data: Json;
  /** 0 at the first attempt. */
  readonly retryCount: number;
  /** Aborted when the process stops or the job is no longer ours (its lease was lost). */
  readonly signal: AbortSignal;
}

/** Outcome of a handler: nothing when the job is done, or that it should run again later (which is no failure). */
export type JobOutcome = void | { readonly againInSeconds: number; readonly data?: Json };

/** Handles a job; an error means that it failed and is retried. */
export type JobHandler = (job: Job) => Promise<JobOutcome>;

export interface WorkOptions {
  /** Most jobs at once in this process. */
  readonly slots: number;
  /** Called before fetching: how many more may run now across all processes (a binding's free slots). */
  readonly capacity?: () => Promise<number>;
  /** Pause between polls without a wake-up, on average, in milliseconds (default 1,000). */
  readonly pollMs?: number;
}

/** The worker of one queue in this process. */
export interface QueueWorker {
  /** Fetches jobs now. */
  wake(): void;
  /**
   * Makes due what this queue has put off, at most 10,000 jobs. What runs here meanwhile and asks to run again later runs again at
   * once: it may have decided by what is no longer so.
   */
  hasten(): Promise<void>;
  stop(graceSeconds: number): Promise<void>;
}
