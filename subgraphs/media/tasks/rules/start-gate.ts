import type { Work } from '../../domain/work/work.ts';
import type { TransactionScope } from '../storage/transactor.ts';

/** Is asked by every start; budgets are one. `owner` is whom the work is accounted to. */
export interface StartGate {
  /** What reserves for the work; null when nothing bounds it. Before the transaction: it may read. */
  open(start: { readonly id: string; readonly owner: string; readonly work: Work }): Promise<Reserve | null>;
  /** Throws what reserving would throw now. */
  check(start: { readonly owner: string; readonly work: Work }): Promise<void>;
}

/**
 * Reserves in the transaction that accepts the work what it is expected to cost; it is given back when its task ends.
 * Throws BUDGET_EXCEEDED.
 */
type Reserve = (scope: TransactionScope) => Promise<void>;
