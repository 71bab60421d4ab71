import type { EventBus } from '../../../platform/events/event-bus.ts';
import { once } from '../../../platform/once.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { MediaDatabase } from '../database/database.ts';
import type { Work } from '../domain/work/work.ts';
import type { BudgetWarnings } from '../tasks/accounting/settle.ts';
import type { StartGate } from '../tasks/rules/start-gate.ts';
import { createBudgetCache } from './cache.ts';
import { createBudgetGate, type BudgetGate, type ExpectedPart } from './gate.ts';
import { createBudgetService, type BudgetService } from './service.ts';
import { createBudgetWarnings, type PublishWarning } from './warnings.ts';

/** Everything that there is about budgets in a process. */
export interface Budgets {
  readonly service: BudgetService;
  readonly gate: BudgetGate;
  /** The gate of tasks: what it reserves is given back by their end. */
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
