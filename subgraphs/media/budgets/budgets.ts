import type { EventBus } from '../../../platform/events/event-bus.ts';
import { newId } from '../../../platform/ids.ts';
import { once } from '../../../platform/once.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { MediaDatabase } from '../database/database.ts';
import { type Budget, computeLeft } from '../domain/budget.ts';
import type { OperatorEvent } from '../domain/operator-event.ts';
import type { Work } from '../domain/work/work.ts';
import type { BudgetWarnings } from '../tasks/accounting/settle.ts';
import type { StartGate } from '../tasks/rules/hooks.ts';
import type { TransactionScope } from '../tasks/storage/transactor.ts';
import { createBudgetCache, type BudgetGate, createBudgetGate, type ExpectedPart } from './gate.ts';
import { type BudgetService, createBudgetService } from './service.ts';
import { markWarned } from './store.ts';

/** Everything that there is about budgets in a process. */
export interface Budgets {
  readonly service: BudgetService;
  readonly gate: BudgetGate;
  /** The gate of tasks: what it reserves is released at their end. */
  readonly startGate: StartGate;
  readonly warnings: BudgetWarnings;
  close(): void;
}

/** Makes it. `expectedParts` says what a task will cost; `currency` is that of the price list. */
export function createBudgets(options: {
  readonly database: MediaDatabase;
  readonly bus: EventBus;
  readonly logger: Logger;
  readonly currency: string | null;
  readonly expectedParts: (work: Work) => readonly ExpectedPart[];
  /** Tells webhook endpoints of warnings (default: the log alone). */
  readonly publish?: PublishWarning | undefined;
}): Budgets {
  const cache = createBudgetCache(options);
  const gate = createBudgetGate({ ...options, cache });
  const warnings = createBudgetWarnings(options);
  return {
    service: createBudgetService({ ...options, cache }),
    gate,
    warnings,
    startGate: {
      check: ({ owner, work }) => gate.check({ owner, parts: once(() => options.expectedParts(work)) }),
      async open({ id, owner, work }) {
        const parts = once(() => options.expectedParts(work));
        const reserve = await gate.open({ id, owner, parts });
        if (reserve === null) return null;
        return async (scope) => {
          const soft = await reserve(scope.transaction);
          if (soft.length > 0) await warnings.warn(scope, soft);
        };
      },
    },
    close: () => cache.close(),
  };
}

/** Publishes a warning, in its transaction. */
type PublishWarning = (scope: TransactionScope, event: OperatorEvent) => Promise<void>;

/** Warns once per period of a budget that has passed its soft amount: a line of the log, and the event `budget.warning`. */
function createBudgetWarnings(options: {
  readonly logger: Logger;
  /** Default: the log alone. */
  readonly publish?: PublishWarning | undefined;
}): BudgetWarnings {
  const { logger, publish } = options;
  return {
    async warn(scope, ids) {
      for (const budget of await markWarned(scope.transaction, ids)) {
        const { id, ...facts } = toFacts(budget);
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
function toFacts(budget: Budget) {
  const { id, name, scope, subject, period, currency, amount, softAmount, spent, reserved } = budget;
  const left = computeLeft(budget);
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
