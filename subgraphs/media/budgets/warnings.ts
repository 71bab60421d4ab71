import type { JsonObject } from '../../../platform/json.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import { leftOf, type Budget } from '../domain/budget.ts';
import type { BudgetWarnings } from '../tasks/accounting/settle.ts';
import { markWarned } from './store.ts';

/** Warns once per period of a budget that has passed its soft amount: a line of the log, and the event `budget.warning`. */
export function createBudgetWarnings({ logger }: { readonly logger: Logger }): BudgetWarnings {
  return {
    async warn(scope, ids) {
      for (const budget of await markWarned(scope.transaction, ids)) {
        scope.afterCommit(() => logger.warn({ ...factsOf(budget) }, 'a budget has passed its soft amount'));
      }
    },
  };
}

const MICRO = 1_000_000;

/** A budget as events and the log have it; amounts in its currency. */
function factsOf(budget: Budget): JsonObject {
  const { id, name, scope, subject, period, currency, amount, softAmount, spent, reserved } = budget;
  const left = leftOf(budget);
  return {
    budget: id,
    name,
    scope,
    subject,
    period,
    currency,
    amount: amount === null ? null : amount / MICRO,
    softAmount: softAmount === null ? null : softAmount / MICRO,
    spent: spent / MICRO,
    reserved: reserved / MICRO,
    left: left === null ? null : left / MICRO,
    renewsAt: budget.renewsAt.toISOString(),
  };
}
