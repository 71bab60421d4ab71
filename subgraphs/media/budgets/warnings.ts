import { newId } from '../../../platform/ids.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import { leftOf, type Budget } from '../domain/budget.ts';
import type { OperatorEvent } from '../domain/operator-event.ts';
import type { BudgetWarnings } from '../tasks/accounting/settle.ts';
import type { TransactionScope } from '../tasks/storage/transactor.ts';
import { markWarned } from './store.ts';

/** Publishes a warning, in its transaction. */
export type PublishWarning = (scope: TransactionScope, event: OperatorEvent) => Promise<void>;

/** Warns once per period of a budget that has passed its soft amount: a line of the log, and the event `budget.warning`. */
export function createBudgetWarnings(options: {
  readonly logger: Logger;
  /** Default: the log alone. */
  readonly publish?: PublishWarning | undefined;
}): BudgetWarnings {
  const { logger, publish } = options;
  return {
    async warn(scope, ids) {
      for (const budget of await markWarned(scope.transaction, ids)) {
        const { id, ...facts } = factsOf(budget);
        scope.afterCommit(() => logger.warn({ budget: id, ...facts }, 'a budget has passed its soft amount'));
        await publish?.(scope, {
          id: newId(),
          type: 'budget.warning',
          at: new Date(),
          data: { id, ...facts },
        });
      }
    },
  };
}

const MICRO = 1_000_000;

/** A budget as events and the log have it; amounts in its currency. */
function factsOf(budget: Budget) {
  const { id, name, scope, subject, period, currency, amount, softAmount, spent, reserved } = budget;
  const left = leftOf(budget);
  return {
    id,
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
