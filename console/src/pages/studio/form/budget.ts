import type { MyBudgetsQuery } from '../../../api/documents/operations.ts';

/** What a budget says to work before it is sent. Pure. */

/** A budget of the caller. */
export type Budget = MyBudgetsQuery['myBudgets'][number];

/** The budget with the least left; those without an amount bound no money. */
export function tightest(budgets: readonly Budget[]): Budget | undefined {
  return budgets
    .filter(({ left }) => left !== null)
    .toSorted((one, other) => (one.left ?? 0) - (other.left ?? 0))[0];
}

interface Price {
  readonly total: number | null | undefined;
  readonly currency: string | null;
}

/** Why a budget refuses work of this price: `over` what is left, or `unknown` where it takes known prices alone; null: it does not. */
export function budgetProblem(
  { left, currency, refusesUnknownPrices }: Budget,
  { total, currency: of }: Price,
): 'over' | 'unknown' | null {
  if (total === undefined || left === null) return null;
  if (total === null || of !== currency) return refusesUnknownPrices ? 'unknown' : null;
  return total > left || left <= 0 ? 'over' : null;
}
