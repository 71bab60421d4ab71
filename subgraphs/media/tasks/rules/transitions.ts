import { AppError } from '../../../../platform/errors.ts';
import type { TaskRow } from '../../database/database.ts';
import type { Failure } from '../../domain/failure.ts';
import type { StepPlanner } from '../../domain/steps.ts';
import type { TaskOutcome } from '../../domain/task.ts';
import { hasOpenAttempts } from '../storage/attempt-store.ts';
import { insertSteps, moveStep, readSteps } from '../storage/step-store.ts';
import type { NewStep } from '../storage/submission-store.ts';
import type { TransactionScope } from '../storage/transactor.ts';
import type { EndListener } from './end-listener.ts';
import { endTask, type EndOptions } from './end-task.ts';
import { queueNextAttempt, type AttemptBounds, type FailedAttempt } from './next-attempt.ts';
import { enqueueStarts, stepRows } from './steps.ts';

/**
 * How a task goes on: its next steps, the next attempt of a step, its end. Every function runs inside a transaction that
 * holds the lock on the task (lockTask), so what it reads of steps and attempts stays true.
 */
export interface TaskTransitions {
  /** Ends a step well; then the next steps start, or the task ends. */
  finishStep(scope: TransactionScope, task: TaskRow, done: FinishedStep): Promise<void>;
  /** Ends the task as FAILED because this step did. */
  failStep(scope: TransactionScope, task: TaskRow, failed: FailedStep): Promise<void>;
  /**
   * After a failed attempt: the next attempt (on the next binding, or later on the same) when the failure is transient
   * and attempts and time are left; else the step fails.
   */
  tryAgain(scope: TransactionScope, task: TaskRow, failed: FailedAttempt): Promise<void>;
  /** Ends a task with a cancel request, once nothing of it is open at an upstream. */
  settleCancel(scope: TransactionScope, task: TaskRow): Promise<void>;
  /** Ends the task as CANCELLED now; what still runs upstream is cancelled by the poller. */
  endCancelled(scope: TransactionScope, task: TaskRow): Promise<void>;
}

interface FinishedStep {
  readonly step: number;
  readonly outcome: TaskOutcome;
}

interface FailedStep {
  readonly step: number;
  readonly failure: Failure;
}

export interface TransitionOptions extends AttemptBounds, EndOptions {
  readonly planner: StepPlanner;
  readonly endListener?: EndListener | undefined;
}

/** Makes the transitions; `options` bound how often and how long a step is tried. */
export function createTransitions(options: TransitionOptions): TaskTransitions {
  const transitions: TaskTransitions = {
    finishStep: (scope, task, done) => finishStep(options, { scope, task }, done),
    failStep: (scope, task, { step, failure }) =>
      endTask(options, { scope, task }, { state: 'FAILED', error: failure, failedStep: step }),
    async tryAgain(scope, task, failed) {
      const isQueued = await queueNextAttempt(options, { scope, task }, failed);
      if (!isQueued) await transitions.failStep(scope, task, failed);
    },
    settleCancel: (scope, task) => settleCancel(options, { scope, task }),
    endCancelled: (scope, task) => endTask(options, { scope, task }, { state: 'CANCELLED' }),
  };
  return transitions;
}

/** The rows of the next steps; a failure when no binding takes one of them any more. */
function rowsOf(...planned: Parameters<typeof stepRows>): readonly NewStep[] | Failure {
  try {
    return stepRows(...planned);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { code: 'UNAVAILABLE', message: error.message, retryable: false };
  }
}

/** Whichever of several steps ends last ends the task, also one that was being stored and could not be cancelled. */
async function settleCancel(
  options: EndOptions,
  { scope, task }: { readonly scope: TransactionScope; readonly task: TaskRow },
): Promise<void> {
  if (await hasOpenAttempts(scope.transaction, task.id)) return;
  await endTask(options, { scope, task }, { state: 'CANCELLED' });
}

async function finishStep(
  options: TransitionOptions,
  { scope, task }: { readonly scope: TransactionScope; readonly task: TaskRow },
  { step, outcome }: FinishedStep,
): Promise<void> {
  const { planner, registry } = options;
  await moveStep(scope.transaction, { taskId: task.id, step, state: 'SUCCEEDED', outcome });
  const steps = await readSteps(scope.transaction, task.id);
  const next = planner.next(task.input, steps);
  if (next.kind === 'done') {
    return endTask(options, { scope, task }, { state: 'SUCCEEDED', result: next.outcome });
  }
  if (task.cancelRequestedAt !== null) return settleCancel(options, { scope, task });
  const progress = Math.min(99, planner.progress(task.input, steps));
  let stage = `${steps.find((entry) => entry.step === step)?.label ?? ''}: finished`;
  if (next.kind === 'start') {
    const rows = rowsOf(registry, next.steps, steps.length);
    if ('code' in rows) return endTask(options, { scope, task }, { state: 'FAILED', error: rows });
    await insertSteps(scope.transaction, task.id, rows);
    await enqueueStarts(scope, task, rows);
    stage = `${rows[0]?.label ?? ''}: queued`;
  }
  await scope.append([{ taskId: task.id, stage, progress }]);
}
