import type { MediaTransaction } from '../../../database/database.ts';
import type { Binding } from '../../../generators/bindings/binding.ts';
import type { StepJob } from '../../rules/queues.ts';
import { countOpen, insertAttempt, lockBinding, readAttempts } from '../../storage/attempt-store.ts';
import { moveStep, readSteps } from '../../storage/step-store.ts';
import { lockOpenTask } from '../../storage/task-store.ts';
import { connectionFor, stageOf, type AttemptContext } from '../attempts/attempt-context.ts';
import type { WorkerDependencies } from '../attempts/dependencies.ts';

/** What a start job finds. */
export type Opening =
  /** Nothing to do: the task has ended, the step runs already or waits at another binding. */
  | { readonly kind: 'gone' }
  /** The binding has as many open attempts as it may have. */
  | { readonly kind: 'full' }
  /** Another worker has claimed the start, or had. */
  | { readonly kind: 'claimed'; readonly context: AttemptContext }
  /** Committed as STARTING, and nothing has been sent for it. */
  | { readonly kind: 'open'; readonly context: AttemptContext };

/**
 * Commits the attempt as STARTING before anything is sent. The count of the binding's open attempts and the new row are
 * one transaction under the binding's lock, so its limit holds with any number of workers. Delivered twice, the same
 * job finds the same attempt again.
 */
export async function openAttempt(
  dependencies: WorkerDependencies,
  job: StepJob,
  binding: Binding,
): Promise<Opening> {
  return dependencies.transactor.run(async (scope): Promise<Opening> => {
    const { transaction } = scope;
    const task = await lockOpenTask(transaction, job.taskId);
    if (task === null || task.cancel_requested_at !== null) return { kind: 'gone' };
    const steps = await readSteps(transaction, task.id);
    const step = steps.find((entry) => entry.step === job.step);
    if (step === undefined || step.binding !== binding.id) return { kind: 'gone' };
    if (step.state === 'RUNNING') return reopen(transaction, { task, step, binding });
    if (step.state !== 'QUEUED') return { kind: 'gone' };
    await lockBinding(transaction, binding.id);
    if ((await countOpen(transaction, binding.id)) >= binding.concurrency) return { kind: 'full' };
    const { model } = connectionFor(binding, step.input);
    const attempt = await insertAttempt(transaction, { taskId: task.id, step: step.step, binding, model });
    await moveStep(transaction, { taskId: task.id, step: step.step, state: 'RUNNING' });
    await scope.append([
      { taskId: task.id, state: 'RUNNING', stage: stageOf(step, 'starting'), sandbox: binding.sandbox },
    ]);
    return { kind: 'open', context: { task, step, attempt, binding } };
  });
}

async function reopen(
  transaction: MediaTransaction,
  context: Omit<AttemptContext, 'attempt'>,
): Promise<Opening> {
  const attempts = await readAttempts(transaction, [context.task.id]);
  const attempt = attempts.findLast((entry) => entry.step === context.step.step);
  if (attempt === undefined || attempt.state !== 'STARTING' || attempt.binding !== context.binding.id) {
    return { kind: 'gone' };
  }
  return { kind: attempt.claim === null ? 'open' : 'claimed', context: { ...context, attempt } };
}
