import type { MediaTransaction, TaskRow } from '../../database/database.ts';
import type { Work } from '../../domain/work/work.ts';
import type { TransactionScope } from '../storage/transactor.ts';

/** Is called when a task ends, in the transaction that ends it; result webhooks are one. */
export interface EndListener {
  /** Declares the queues that it enqueues to; called before the first task can end. */
  defineQueues(): Promise<void>;
  /** The task ends in this transaction. */
  ended(scope: TransactionScope, task: TaskRow, state: 'SUCCEEDED' | 'FAILED' | 'CANCELLED'): Promise<void>;
  /** Removes what it keeps of tasks that ended so many days ago, at most `limit` rows; answers how many. */
  prune(
    transaction: MediaTransaction,
    options: { readonly days: number; readonly limit: number },
  ): Promise<number>;
}

/** Is asked by every start; budgets are one. `owner` is whom the work is accounted to. */
export interface StartGate {
  /** What reserves for the work; null when nothing bounds it. Before the transaction: it may read. */
  open(start: { readonly id: string; readonly owner: string; readonly work: Work }): Promise<Reserve | null>;
  /** Throws what reserving would throw now. */
  check(start: { readonly owner: string; readonly work: Work }): Promise<void>;
}

/**
 * Reserves in the transaction that accepts the work what it is expected to cost; it is released when its task ends.
 * Throws BUDGET_EXCEEDED.
 */
type Reserve = (scope: TransactionScope) => Promise<void>;
