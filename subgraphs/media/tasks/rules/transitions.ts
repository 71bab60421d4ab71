import { AppError } from '../../../../platform/errors.ts';
import type { StepRow, TaskRow } from '../../database/database.ts';
import type { Failure } from '../../domain/failure.ts';
import type { NextSteps, StepPlanner, TaskOutcome } from '../../domain/task.ts';
import { formatStage } from '../../domain/words/stages.ts';
import { hasOpenAttempts } from '../storage/attempt-store.ts';
import { insertSteps, moveSteps, type MovedStep } from '../storage/step-store.ts';
import type { NewStep } from '../storage/submission-store.ts';
import type { TransactionScope } from '../storage/transactor.ts';
import { endTask, endTasks, type EndingTask, type EndOptions } from './end-task.ts';
import type { EndListener } from './hooks.ts';
import { queueNextAttempt, type AttemptBounds, type FailedAttempt } from './next-attempt.ts';
import { enqueueStarts, stepRows } from './queues.ts';

/**
 * How a task goes on: its next steps, the next attempt of a step, its end. Every function runs inside a transaction that
 * holds the lock on the task (lockTask), so what it reads of steps and attempts stays true.
 */
export interface TaskTransitions {
  /** Ends steps of different tasks well; then their next steps start, or the tasks end. */
  finishSteps(scope: TransactionScope, done: readonly FinishedStep[]): Promise<void>;
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
  readonly task: TaskRow;
  /** Every step of the task, as it is before. */
  readonly steps: readonly StepRow[];
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
    finishSteps: (scope, done) => finishSteps(options, scope, done),
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
function createRows(...planned: Parameters<typeof stepRows>): readonly NewStep[] | Failure {
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

async function finishSteps(
  options: TransitionOptions,
  scope: TransactionScope,
  done: readonly FinishedStep[],
): Promise<void> {
  const moved = done.map(({ task, step, outcome }): MovedStep => ({
    taskId: task.id,
    step,
    state: 'SUCCEEDED',
    outcome,
  }));
  await moveSteps(scope.transaction, moved);
  const ending: EndingTask[] = [];
  for (const one of done) {
    const { task } = one;
    const steps = stepsAfter(one);
    const next = options.planner.next(task.input, steps);
    if (next.kind === 'done') ending.push({ task, end: { state: 'SUCCEEDED', result: next.outcome } });
    else if (task.cancelRequestedAt !== null) await settleCancel(options, { scope, task });
    else await goOn(options, { scope, task }, { next, steps, step: one.step });
  }
  await endTasks(options, scope, ending);
}

/** The steps of a task as they are now; under the lock on the task nobody else has moved one. */
function stepsAfter({ steps, step, outcome }: FinishedStep): readonly StepRow[] {
  return steps.map((entry) =>
    entry.step === step ? { ...entry, state: 'SUCCEEDED', progress: 100, outcome } : entry,
  );
}

/** In place of a step that is not there. */
const UNNAMED = { label: '' } as const;

interface GoingOn {
  readonly next: Exclude<NextSteps, { readonly kind: 'done' }>;
  readonly steps: readonly StepRow[];
  /** The one that has just ended. */
  readonly step: number;
}

async function goOn(
  options: TransitionOptions,
  { scope, task }: { readonly scope: TransactionScope; readonly task: TaskRow },
  { next, steps, step }: GoingOn,
): Promise<void> {
  const progress = Math.min(99, options.planner.progress(task.input, steps));
  let stage = formatStage(steps.find((entry) => entry.step === step) ?? UNNAMED, 'finished');
  if (next.kind === 'start') {
    const rows = createRows(options.registry, next.steps, steps.length);
    if ('code' in rows) return endTask(options, { scope, task }, { state: 'FAILED', error: rows });
    await insertSteps(scope.transaction, task.id, rows);
    await enqueueStarts(scope, task, rows);
    stage = formatStage(rows[0] ?? UNNAMED, 'queued');
  }
  await scope.append([{ taskId: task.id, stage, progress }]);
}
