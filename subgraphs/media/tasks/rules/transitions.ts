import type { TaskStepTable, TaskTable } from '../../database/task-tables.ts';
import { asJson, type Failure, type TaskOutcome } from '../../domain/task.ts';
import type { GeneratorRegistry } from '../../generators/bindings/binding.ts';
import { bindingsTaking, checkWork } from '../../generators/limits/limits.ts';
import { nextSteps, progressOf, type PlannedStep, type RecipeOptions } from '../../recipes/recipe.ts';
import { enqueueDelivery } from '../../webhooks/enqueue.ts';
import { closeUnsentAttempts, hasOpenAttempts, type AttemptKey } from '../storage/attempt-store.ts';
import { pollNow } from '../storage/poll-store.ts';
import { closeSteps, insertSteps, moveStep, readSteps } from '../storage/step-store.ts';
import type { NewStep } from '../storage/submission-store.ts';
import { CANCEL_TOPIC, type TransactionScope } from '../storage/transactor.ts';
import { isTransient } from './failures.ts';
import { startQueue, type StepJob } from './queues.ts';

/**
 * How a task goes on: the next steps of its recipe, the next attempt of a step, its end. Every function runs inside a
 * transaction that holds the lock on the task (lockTask), so what it reads of steps and attempts stays true.
 */
export interface Advancer {
  /** Ends a step well; then the recipe's next steps start, or the task ends. */
  finishStep(scope: TransactionScope, task: TaskTable, done: FinishedStep): Promise<void>;
  /** Ends the task as FAILED because this step did. */
  failStep(scope: TransactionScope, task: TaskTable, failed: FailedStep): Promise<void>;
  /**
   * After a failed attempt: the next attempt (on the next binding, or later on the same) when the failure is transient
   * and attempts and time are left; else the step fails.
   */
  tryAgain(scope: TransactionScope, task: TaskTable, failed: FailedAttempt): Promise<void>;
  /** Ends a task whose cancelling was asked for, once nothing of it is open at an upstream. */
  settleCancel(scope: TransactionScope, task: TaskTable): Promise<void>;
  /** Ends the task as CANCELLED now; what still runs upstream is cancelled by the poller. */
  endCancelled(scope: TransactionScope, task: TaskTable): Promise<void>;
}

interface FinishedStep {
  readonly step: number;
  readonly outcome: TaskOutcome;
}

interface FailedStep {
  readonly step: number;
  readonly failure: Failure;
}

interface FailedAttempt extends FailedStep {
  readonly attempt: AttemptKey & { readonly binding: string };
  /** Seconds the upstream asked to wait. */
  readonly retryAfter?: number | undefined;
}

export interface AdvanceOptions {
  readonly registry: GeneratorRegistry;
  readonly recipe: RecipeOptions;
  /** Fewest attempts a step may have in all; a generator with more bindings tries each once. */
  readonly maxAttempts: number;
  /** Seconds after a step's first start in which attempts may follow. */
  readonly budgetSeconds: number;
}

/** Makes the advancer; `options` bound how often and how long a step is tried. */
export function createAdvancer(options: AdvanceOptions): Advancer {
  return {
    finishStep: (scope, task, done) => finishStep(options, scope, task, done),
    failStep,
    async tryAgain(scope, task, failed) {
      const again = await nextAttempt(options, scope, task, failed);
      if (!again) await failStep(scope, task, failed);
    },
    async settleCancel(scope, task) {
      if (!(await hasOpenAttempts(scope.transaction, task.id))) await endCancelled(scope, task);
    },
    endCancelled,
  };
}

/** The rows of planned steps: numbered after those there are, each in the line of the first binding that takes it. */
export function stepRows(
  registry: GeneratorRegistry,
  planned: readonly PlannedStep[],
  before: number,
): readonly NewStep[] {
  return planned.map(({ label, input }, index) => {
    const [binding] = bindingsTaking(registry, input);
    if (binding === undefined) {
      checkWork(input, registry);
      throw new Error(`generator ${input.generator} has no binding`);
    }
    return { step: before + index + 1, label, input, binding: binding.id };
  });
}

/** Enqueues the start of each step. */
export async function enqueueStarts(
  scope: TransactionScope,
  taskId: string,
  steps: readonly Pick<NewStep, 'step' | 'binding'>[],
  startAfterSeconds = 0,
): Promise<void> {
  const jobs = steps.map(({ step, binding }) => ({
    queue: startQueue(binding),
    data: asJson({ taskId, step } satisfies StepJob),
    ...(startAfterSeconds > 0 ? { startAfterSeconds } : {}),
  }));
  await scope.enqueue(...jobs);
}

async function finishStep(
  options: AdvanceOptions,
  scope: TransactionScope,
  task: TaskTable,
  { step, outcome }: FinishedStep,
): Promise<void> {
  await moveStep(scope.transaction, { taskId: task.id, step, state: 'SUCCEEDED', outcome });
  const steps = await readSteps(scope.transaction, task.id);
  const next = nextSteps(task.input, steps, options.recipe);
  if (next.kind === 'done') {
    await endTask(scope, task, {
      state: 'SUCCEEDED',
      stage: 'finished',
      progress: 100,
      result: next.outcome,
    });
    return;
  }
  if (task.cancel_requested_at !== null) {
    if (next.kind === 'start') await endCancelled(scope, task);
    return;
  }
  const progress = Math.min(99, progressOf(task.input, steps));
  if (next.kind === 'start') {
    const rows = stepRows(options.registry, next.steps, steps.length);
    await insertSteps(scope.transaction, task.id, rows);
    await enqueueStarts(scope, task.id, rows);
    await scope.append([{ taskId: task.id, stage: `${rows[0]?.label ?? ''}: queued`, progress }]);
    return;
  }
  await scope.append([{ taskId: task.id, stage: `${labelOf(steps, step)}: finished`, progress }]);
}

function labelOf(steps: readonly TaskStepTable[], step: number): string {
  return steps.find((entry) => entry.step === step)?.label ?? '';
}

async function failStep(
  scope: TransactionScope,
  task: TaskTable,
  { step, failure }: FailedStep,
): Promise<void> {
  await endTask(scope, task, { state: 'FAILED', stage: 'failed', error: failure, failedStep: step });
}

async function endCancelled(scope: TransactionScope, task: TaskTable): Promise<void> {
  await endTask(scope, task, { state: 'CANCELLED', stage: 'cancelled', cancel: true });
}

interface TaskEnd {
  readonly state: 'SUCCEEDED' | 'FAILED' | 'CANCELLED';
  readonly stage: string;
  readonly progress?: number;
  readonly error?: Failure;
  readonly result?: TaskOutcome;
  readonly failedStep?: number;
  readonly cancel?: boolean;
}

/** State, end event, end notice and result webhook, once: the append only touches open tasks. */
async function endTask(
  scope: TransactionScope,
  task: TaskTable,
  { failedStep, ...end }: TaskEnd,
): Promise<void> {
  const [appended] = await scope.append([{ taskId: task.id, ...end }]);
  if (appended === undefined) return;
  if (end.state !== 'SUCCEEDED') {
    await closeSteps(scope.transaction, task.id, failedStep ?? null);
    await closeUnsentAttempts(scope.transaction, task.id);
    await pollNow(scope.transaction, task.id);
    scope.publish(CANCEL_TOPIC, task.id, appended.seq);
  }
  if (appended.onEnd !== null) {
    await scope.enqueue({ queue: appended.onEnd, data: { taskId: task.id, state: end.state } });
  }
  if (task.callback_url !== null) {
    await enqueueDelivery(scope, { taskId: task.id, url: task.callback_url });
  }
}

async function nextAttempt(
  options: AdvanceOptions,
  scope: TransactionScope,
  task: TaskTable,
  { step, failure, attempt, retryAfter = 0 }: FailedAttempt,
): Promise<boolean> {
  if (!isTransient(failure)) return false;
  const steps = await readSteps(scope.transaction, task.id);
  const current = steps.find((entry) => entry.step === step);
  if (current === undefined) return false;
  // None when the settings have changed since the task was accepted: then there is no other attempt.
  const bindings = bindingsTaking(options.registry, current.input);
  if (attempt.number >= Math.max(options.maxAttempts, bindings.length)) return false;
  const index = bindings.findIndex(({ id }) => id === attempt.binding);
  const next = bindings[(index + 1) % bindings.length];
  if (next === undefined) return false;
  // A binding that was not asked yet is asked at once; one that was gets a pause that doubles.
  const pause =
    attempt.number < bindings.length ? 0 : Math.max(retryAfter, 2 ** (attempt.number - bindings.length));
  const spent = (Date.now() - (current.started_at ?? task.created_at).getTime()) / 1000;
  if (spent + pause > options.budgetSeconds) return false;
  await moveStep(scope.transaction, { taskId: task.id, step, state: 'QUEUED', binding: next.id });
  await enqueueStarts(scope, task.id, [{ step, binding: next.id }], pause);
  const stage = current.label === '' ? 'trying again' : `${current.label}: trying again`;
  await scope.append([{ taskId: task.id, stage }]);
  return true;
}
