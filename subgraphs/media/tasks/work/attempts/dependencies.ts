import type { Logger } from '../../../../../platform/process/logger.ts';
import type { Tracer } from '../../../../../platform/tracing/tracer.ts';
import type { MediaDatabase, AttemptRow } from '../../../database/database.ts';
import type { AttemptState } from '../../../domain/attempt.ts';
import type { GeneratorRegistry } from '../../../generators/bindings/binding.ts';
import type { Outcome } from '../../../providers/contract/provider.ts';
import type { BudgetWarnings } from '../../accounting/settle.ts';
import type { WorkObserver } from '../../accounting/work-observer.ts';
import type { TaskTransitions } from '../../rules/transitions.ts';
import type { Transactor } from '../../storage/transactor.ts';
import type { WorkerLimits } from './limits.ts';

/** What every part of the worker works with; each part names what it needs besides. */
export interface WorkerDependencies extends EndDependencies {
  /**
   * Closes an attempt whose upstream has finished, and stores what it has made or has a job do so. False when the attempt was
   * no longer open.
   */
  readonly finishAttempt: (finish: UpstreamFinish) => Promise<boolean>;
}

/** What ends of attempts are written with. */
export interface EndDependencies {
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

/** What an upstream has finished, and the attempt it belongs to. */
export interface UpstreamFinish {
  readonly attempt: AttemptRow;
  readonly from: AttemptState;
  /** Only when the attempt is still under this claim. */
  readonly claim?: string;
  readonly outcome: Outcome;
}
