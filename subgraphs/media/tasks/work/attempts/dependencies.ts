import type { Logger } from '../../../../../platform/process/logger.ts';
import type { Tracer } from '../../../../../platform/tracing/tracer.ts';
import type { MediaDatabase } from '../../../database/database.ts';
import type { GeneratorRegistry } from '../../../generators/bindings/binding.ts';
import type { BudgetWarnings } from '../../accounting/settle.ts';
import type { WorkObserver } from '../../accounting/work-observer.ts';
import type { TaskTransitions } from '../../rules/transitions.ts';
import type { Transactor } from '../../storage/transactor.ts';
import type { WorkerLimits } from './limits.ts';

/** What every part of the worker works with; each part names what it needs besides. */
export interface WorkerDependencies {
  readonly database: MediaDatabase;
  readonly registry: GeneratorRegistry;
  readonly transactor: Transactor;
  readonly transitions: TaskTransitions;
  readonly limits: WorkerLimits;
  readonly logger: Logger;
  /** Continues the traces in which tasks were submitted. */
  readonly tracer: Tracer;
  /** Hears of every end after its commit. */
  readonly observer?: WorkObserver | undefined;
  /** Warns of budgets that have passed their soft amount (default: nobody). */
  readonly budgetWarnings?: BudgetWarnings | undefined;
}
