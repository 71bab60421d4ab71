import type { MediaTransaction, TaskRow } from '../../database/database.ts';
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
