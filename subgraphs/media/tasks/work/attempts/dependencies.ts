import type { Logger } from '../../../../../platform/process/logger.ts';
import type { Tracer } from '../../../../../platform/tracing/span.ts';
import type { MediaDatabase, AttemptRow } from '../../../database/database.ts';
import type { AttemptState } from '../../../domain/attempt.ts';
import type { GeneratorRegistry } from '../../../generators/bindings/binding.ts';
import type { Outcome } from '../../../providers/contract/provider.ts';
import type { ResultLimits } from '../../../result-files/store-result-file.ts';
import type { BudgetWarnings } from '../../accounting/settle.ts';
import type { WorkObserver } from '../../accounting/work-observer.ts';
import type { TaskTransitions } from '../../rules/transitions.ts';
import type { Transactor } from '../../storage/transactor.ts';

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
  /** Receives every end after its commit. */
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

/** Times and sizes of the worker; tests shorten them. */
export interface WorkerLimits extends ResultLimits {
  /** Seconds after which a claim that is not renewed may be taken over. */
  readonly claimStaleSeconds: number;
  /** Longest wait for the answer to a start, in milliseconds. */
  readonly startTimeoutMs: number;
  /** Longest wait for a status, find or cancel answer, in milliseconds. Shorter than the lease. */
  readonly statusTimeoutMs: number;
  /** Seconds a poller owns a due attempt. */
  readonly leaseSeconds: number;
  /** Pause between sweeps of waiting steps, in milliseconds. */
  readonly sweepPauseMs: number;
  /** Pause between queries for due attempts, on average, in milliseconds. */
  readonly pollTickMs: number;
  /**
   * Seconds in which a cancel without an answer is repeated, and in which an upstream that is silent at the timeout of an
   * attempt may still answer.
   */
  readonly cancelBudgetSeconds: number;
  /** Seconds after which work of a binding that is not configured ends: in a rolling restart another process may know it. */
  readonly unconfiguredSeconds: number;
  /** Pause before a start that was not found is looked up again, in milliseconds: the upstream may still be writing it. */
  readonly findGraceMs: number;
  /** Tries to store a result, and the longest pause between them in seconds. */
  readonly maxStoreTries: number;
  readonly storePauseSeconds: number;
  /** Longest time that a finished result waits for an unavailable object store, in seconds. */
  readonly storeOutageSeconds: number;
  /** The same for a result whose bytes are only in the memory of this process. */
  readonly inMemoryOutageSeconds: number;
  /** Largest input fetched from a caller's URL, in bytes. */
  readonly maxInputBytes: number;
  /** Longest time for all inputs of a step that are fetched from callers' URLs, in milliseconds: they hold a start's slot. */
  readonly inputsTimeoutMs: number;
}

/** What one worker does at once. */
export interface WorkerSlots {
  /** Starts of one binding, calls that answer with the result among them; null: as many as the binding takes. */
  readonly start: number | null;
  /** Status requests. */
  readonly poll: number;
  /** Results that are stored. */
  readonly store: number;
}

/** The defaults of the slots. */
export const DEFAULT_SLOTS: WorkerSlots = { start: null, poll: 256, store: 4 };

/** The defaults. */
export const DEFAULT_LIMITS: WorkerLimits = {
  claimStaleSeconds: 15,
  startTimeoutMs: 60_000,
  statusTimeoutMs: 15_000,
  leaseSeconds: 20,
  sweepPauseMs: 30_000,
  pollTickMs: 200,
  cancelBudgetSeconds: 600,
  unconfiguredSeconds: 300,
  findGraceMs: 1_500,
  maxStoreTries: 8,
  storePauseSeconds: 60,
  storeOutageSeconds: 86_400,
  inMemoryOutageSeconds: 3_600,
  maxInputBytes: 64 * 1024 * 1024,
  maxOutputBytes: 1024 * 1024 * 1024,
  inputsTimeoutMs: 300_000,
  resultTimeoutMs: 1_800_000,
  downloadTimeoutMs: 30_000,
};
