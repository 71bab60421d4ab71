import { withAdvisoryLock } from '../../../../platform/database/advisory-lock.ts';
import { toError } from '../../../../platform/errors.ts';
import type { Queue } from '../../../../platform/queue/queue.ts';
import type { TaskRow } from '../../database/database.ts';
import type { Failure } from '../../domain/failure.ts';
import { bindingsTaking, takesWaiting } from '../../generators/limits/limits.ts';
import {
  STORE_QUEUE,
  startQueue,
  storeJob,
  type StepJob,
  enqueueStarts,
  startJobs,
} from '../rules/queues.ts';
import { closeUnsentAttempts } from '../storage/attempt-store.ts';
import { moveStep } from '../storage/step-store.ts';
import {
  noteKnown,
  noteUnknownSteps,
  readWaitingStep,
  readWaitingSteps,
  type WaitingStep,
} from '../storage/sweep-store.ts';
import { lockOpenTask } from '../storage/task-store.ts';
import type { TransactionScope } from '../storage/transactor.ts';
import type { WorkerDependencies } from './attempts/dependencies.ts';

/** The dependencies of a sweep. */
export interface SweepDependencies extends WorkerDependencies {
  readonly queue: Queue;
  /** Hours that a step may wait for its start (QUEUE_MAX_HOURS). */
  readonly queueMaxHours: number;
}

/** Most steps compared with their jobs in one statement. */
const BATCH = 500;
/** Sorts before every step. */
const START = { taskId: '00000000-0000-0000-0000-000000000000', step: 0 };

/**
 * Looks after every step that only a job moves, in one process at a time: a step whose job was lost gets another one,
 * one whose binding left the configuration goes to another binding, and what has waited too long is ended. Attempts that
 * are claimed or running have their own deadlines (recovery, poller).
 */
export async function sweepSteps(dependencies: SweepDependencies): Promise<void> {
  // Each process for itself: whichever sweeps may not know what others do.
  await noteKnown(
    dependencies.database,
    dependencies.registry.all(),
    (step) => !isUnknown(dependencies, step),
  );
  await withAdvisoryLock(dependencies.database, 'media.tasks.sweep', async () => {
    for (let after = START; ;) {
      const steps = await readWaitingSteps(dependencies.database, { after, limit: BATCH });
      await noteUnknownSteps(
        dependencies.database,
        steps.filter((step) => isUnknown(dependencies, step) && step.unknownSeconds === null),
      );
      for (const step of await movable(dependencies, steps)) await guarded(dependencies, step);
      const last = steps.at(-1);
      if (last === undefined || steps.length < BATCH) return;
      after = last;
    }
  });
}

/** Those that are overdue, that nobody here serves, or whose job is not there. */
async function movable(
  dependencies: SweepDependencies,
  steps: readonly WaitingStep[],
): Promise<readonly WaitingStep[]> {
  const found = steps.filter((step) => isOverdue(dependencies, step) || isUnserved(dependencies, step));
  for (const [queue, ofQueue] of Map.groupBy(steps, chooseQueue)) {
    const lost = await dependencies.queue.withoutJob(queue, ofQueue.map(jobOfStep));
    const names = new Set(lost.map((data) => formatName(data as StepJob)));
    found.push(...ofQueue.filter((step) => names.has(formatName(jobOfStep(step)))));
  }
  return [...new Set(found)];
}

/** One step that can not be looked after does not keep the others from it. */
async function guarded(dependencies: SweepDependencies, step: WaitingStep): Promise<void> {
  try {
    await dependencies.transactor.run(async (scope) => {
      const task = await lockOpenTask(scope.transaction, step.taskId);
      if (task === null) return;
      const current = await readWaitingStep(scope.transaction, step);
      // Whatever has moved meanwhile has a job again, or an attempt.
      if (current === null || current.state !== step.state || current.binding !== step.binding) return;
      if (current.waitingSeconds < step.waitingSeconds) return;
      await moveOn(dependencies, { scope, task }, current);
    });
  } catch (error) {
    const { taskId } = step;
    dependencies.logger.error({ error: toError(error), taskId }, 'a waiting step could not be looked after');
  }
}

type LockedTask = { readonly scope: TransactionScope; readonly task: TaskRow };

async function moveOn(
  dependencies: SweepDependencies,
  { scope, task }: LockedTask,
  step: WaitingStep,
): Promise<void> {
  const { transitions, logger } = dependencies;
  const log = { taskId: task.id, step: step.step, state: step.state, binding: step.binding };
  if (task.cancelRequestedAt !== null) {
    await transitions.settleCancel(scope, task);
  } else if (isOverdue(dependencies, step)) {
    logger.error(log, 'a step has waited too long');
    await transitions.failStep(scope, task, { step: step.step, failure: overdueFailure(dependencies, step) });
  } else if (isUnserved(dependencies, step)) {
    await moveToAnotherBinding(dependencies, { scope, task }, step);
  } else {
    logger.warn(log, 'a step without a job is enqueued again');
    const jobs = step.state === 'STORING' ? [storeJob(task, step)] : startJobs(task, [step]);
    await scope.enqueue(...jobs);
  }
}

/** Nothing was sent for it, so that any binding may do the work. */
async function moveToAnotherBinding(
  { registry, transitions }: SweepDependencies,
  { scope, task }: LockedTask,
  { step, state, input }: WaitingStep,
): Promise<void> {
  const [binding] = bindingsTaking(registry, input);
  if (binding === undefined) {
    const message = `its generator "${input.generator}" is no longer configured`;
    const failure: Failure = { code: 'UNAVAILABLE', message, retryable: false };
    return transitions.failStep(scope, task, { step, failure });
  }
  const closed = await closeUnsentAttempts(scope.transaction, task.id, step);
  // Its attempt was claimed since this was read, and is being sent.
  if (state === 'RUNNING' && closed === 0) return;
  await moveStep(scope.transaction, { taskId: task.id, step, state: 'QUEUED', binding: binding.id });
  await enqueueStarts(scope, task, [{ step, binding: binding.id }]);
}

function isUnserved(dependencies: SweepDependencies, step: WaitingStep): boolean {
  const { unconfiguredSeconds } = dependencies.limits;
  return isUnknown(dependencies, step) && (step.unknownSeconds ?? 0) > unconfiguredSeconds;
}

/** Storing asks for the attempt's upstream, and looks after itself. */
function isUnknown(
  { registry }: SweepDependencies,
  { state, binding: id, input }: Pick<WaitingStep, 'state' | 'binding' | 'input'>,
): boolean {
  if (state === 'STORING') return false;
  const binding = registry.byId(id);
  if (binding === null) return true;
  return bindingsTaking(registry, input).length === 0 && !takesWaiting(registry, binding, input);
}

function isOverdue({ limits, queueMaxHours }: SweepDependencies, step: WaitingStep): boolean {
  // Storing has a deadline of its own, which its job keeps; this one is for jobs that never get that far.
  const longest = step.state === 'STORING' ? limits.storeOutageSeconds + 3_600 : queueMaxHours * 3_600;
  return step.waitingSeconds > longest;
}

function overdueFailure({ queueMaxHours }: SweepDependencies, { state }: WaitingStep): Failure {
  if (state === 'STORING') {
    return { code: 'STORAGE_FAILED', message: 'the result could not be stored in time', retryable: false };
  }
  return { code: 'TIMED_OUT', message: `it could not be started within ${queueMaxHours} h`, retryable: true };
}

const chooseQueue = ({ state, binding }: WaitingStep): string =>
  state === 'STORING' ? STORE_QUEUE : startQueue(binding);

const jobOfStep = ({ taskId, step }: WaitingStep): StepJob => ({ taskId, step });

const formatName = ({ taskId, step }: StepJob): string => `${taskId}/${step}`;
