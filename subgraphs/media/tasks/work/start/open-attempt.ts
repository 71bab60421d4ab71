import type { MediaTransaction } from '../../../database/database.ts';
import { stageOf } from '../../../domain/words/stages.ts';
import type { Binding } from '../../../generators/bindings/binding.ts';
import { upstreamOf } from '../../../generators/bindings/upstream.ts';
import { isUsable, modelFor, takesWaiting } from '../../../generators/limits/limits.ts';
import type { StepJob } from '../../rules/queues.ts';
import { closeUnsentAttempts, insertAttempt, readAttempts } from '../../storage/attempt-store.ts';
import { readRoom } from '../../storage/slot-store.ts';
import { moveStep, readSteps } from '../../storage/step-store.ts';
import { lockOpenTask } from '../../storage/task-store.ts';
import { connectionFor, type AttemptContext } from '../attempts/attempt-context.ts';
import type { WorkerDependencies } from '../attempts/dependencies.ts';

/** Stage of work that waits because an administrator has paused its binding. */
export const PAUSED = 'paused by an administrator';

/** What a start job finds. */
export type Opening =
  /** Nothing to do: the task has ended, the step runs already or waits at another binding. */
  | { readonly kind: 'gone' }
  /** Its upstream is left alone for a while, or has asked for time; or the binding is paused, or does not take the work. */
  | { readonly kind: 'away' }
  /** The binding has no room now: its slots are held, or its requests of this minute are sent. */
  | { readonly kind: 'full' }
  /** Another worker has claimed the start, or had. */
  | { readonly kind: 'claimed'; readonly context: AttemptContext }
  /** Committed as STARTING, and nothing has been sent for it. */
  | { readonly kind: 'open'; readonly context: AttemptContext };

/**
 * Commits the attempt as STARTING before anything is sent. It takes no slot of the binding yet: that is the claim's, and
 * what is looked at here only saves preparing a start that would find none. Delivered twice, the same job finds the same
 * attempt again.
 */
export async function openAttempt(
  dependencies: WorkerDependencies,
  job: StepJob,
  binding: Binding,
): Promise<Opening> {
  return dependencies.transactor.run(async (scope): Promise<Opening> => {
    const { transaction } = scope;
    const task = await lockOpenTask(transaction, job.taskId);
    if (task === null || task.cancelRequestedAt !== null) return { kind: 'gone' };
    const steps = await readSteps(transaction, task.id);
    const step = steps.find((entry) => entry.step === job.step);
    if (step === undefined || step.binding !== binding.id) return { kind: 'gone' };
    const isFull = (await readRoom(transaction, binding)).free <= 0;
    if (step.state === 'RUNNING') {
      const opened = await reopen(transaction, { task, step, binding }, isFull);
      if (opened !== 'unsent') return opened;
    } else if (step.state !== 'QUEUED') return { kind: 'gone' };
    // Before the slots: those are held as long as the upstream is away, and another one may take the work meanwhile.
    if (!isUsable(binding) || !takesWaiting(dependencies.registry, binding, step.input))
      return { kind: 'away' };
    if (isFull) {
      // It was resumed, and waits for a slot like everything else.
      const stage = stageOf(step, 'queued');
      if (task.stage === stageOf(step, PAUSED)) await scope.append([{ taskId: task.id, stage }]);
      return { kind: 'full' };
    }
    const { breaker } = binding;
    if (breaker !== undefined && (breaker.waitMs() > 0 || !breaker.admit())) return { kind: 'away' };
    // A wire that carries no model's name has one model: its attempts name it all the same.
    const model = connectionFor(binding, step.input).model ?? modelFor(binding, step.input)?.id ?? null;
    const attempt = await insertAttempt(transaction, { taskId: task.id, step: step.step, binding, model });
    await moveStep(transaction, { taskId: task.id, step: step.step, state: 'RUNNING' });
    await scope.append([
      { taskId: task.id, state: 'RUNNING', stage: stageOf(step, 'starting'), sandbox: binding.sandbox },
    ]);
    return { kind: 'open', context: { task, step, attempt, binding } };
  });
}

/**
 * The attempt that was opened before. `unsent`: nothing was sent for it, and it can't be sent any more, as its binding is paused or
 * away by now or has come to name another upstream; it is closed, and its step is as if it had never begun.
 */
async function reopen(
  transaction: MediaTransaction,
  context: Omit<AttemptContext, 'attempt'>,
  isFull: boolean,
): Promise<Opening | 'unsent'> {
  const { task, step, binding } = context;
  const attempts = await readAttempts(transaction, [task.id]);
  const attempt = attempts.findLast((entry) => entry.step === step.step);
  if (attempt === undefined || attempt.state !== 'STARTING' || attempt.binding !== binding.id) {
    return { kind: 'gone' };
  }
  if (attempt.claim !== null) return { kind: 'claimed', context: { ...context, attempt } };
  const isOthers =
    (attempt.upstream !== null && attempt.upstream !== upstreamOf(binding)) ||
    (attempt.bindingName !== null && attempt.bindingName !== binding.name);
  if (isOthers || !isUsable(binding)) {
    const closed = await closeUnsentAttempts(transaction, task.id, step.step);
    if (closed === 0) return { kind: 'claimed', context: { ...context, attempt } };
    await moveStep(transaction, { taskId: task.id, step: step.step, state: 'QUEUED' });
    return 'unsent';
  }
  return isFull ? { kind: 'full' } : { kind: 'open', context: { ...context, attempt } };
}
