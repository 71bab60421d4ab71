import type { JobOutcome } from '../../../../../platform/queue/queue.ts';
import type { MediaTransaction, StepRow, TaskRow } from '../../../database/database.ts';
import type { Failure } from '../../../domain/failure.ts';
import { formatStage, type Stage } from '../../../domain/words/stages.ts';
import type { Binding } from '../../../generators/bindings/binding.ts';
import { identifyUpstream } from '../../../generators/bindings/identity.ts';
import {
  isUsable,
  modelFor,
  takesWaiting,
  bindingsTaking,
  firstUsable,
} from '../../../generators/limits/limits.ts';
import { longestBudget, pauseSeconds, waitingStage, breakerWait } from '../../rules/next-attempt.ts';
import { type StepJob, enqueueStarts } from '../../rules/queues.ts';
import { closeUnsentAttempts, insertAttempt, readAttempts } from '../../storage/attempt-store.ts';
import { readRoom } from '../../storage/slot-store.ts';
import { moveStep, readSteps, noteFirstTry } from '../../storage/step-store.ts';
import { lockOpenTask, lockQueuedTasks } from '../../storage/task-store.ts';
import type { TransactionScope } from '../../storage/transactor.ts';
import { connectionFor, type AttemptContext } from '../attempts/attempt-context.ts';
import type { WorkerDependencies } from '../attempts/dependencies.ts';

/** Stage of work that waits because an administrator has paused its binding. */
const PAUSED = 'paused by an administrator';

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
    if (isFull) return { kind: 'full' };
    const { breaker } = binding;
    if (breaker !== undefined && (breaker.waitMs() > 0 || !breaker.admit())) return { kind: 'away' };
    // A wire that carries no model's name has one model: its attempts name it all the same.
    const model = connectionFor(binding, step.input).model ?? modelFor(binding, step.input)?.id ?? null;
    const attempt = await insertAttempt(transaction, { taskId: task.id, step: step.step, binding, model });
    await moveStep(transaction, { taskId: task.id, step: step.step, state: 'RUNNING' });
    await scope.append([
      { taskId: task.id, state: 'RUNNING', stage: formatStage(step, 'starting'), sandbox: binding.sandbox },
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
    (attempt.upstream !== null && attempt.upstream !== identifyUpstream(binding)) ||
    (attempt.bindingName !== null && attempt.bindingName !== binding.name);
  if (isOthers || !isUsable(binding)) {
    const closed = await closeUnsentAttempts(transaction, task.id, step.step);
    if (closed === 0) return { kind: 'claimed', context: { ...context, attempt } };
    await moveStep(transaction, { taskId: task.id, step: step.step, state: 'QUEUED' });
    return 'unsent';
  }
  return isFull ? { kind: 'full' } : { kind: 'open', context: { ...context, attempt } };
}

/** Seconds after which the work of a paused binding is looked at again; a resume that this process learns of hastens it. */
const PAUSED_SECONDS = 60;

/** Seconds between moves of a step whose place is of a binding that does not take it: processes with other lists may move it back. */
const STRAY_SECONDS = 3;

/**
 * The upstream of a step that waits takes no start now, its binding is paused, or the place where it waits has become that of a
 * binding which does not take it: another binding that takes the work gets it, else it waits until the upstream may be asked again,
 * within its budget. Nothing was sent, so that no attempt is used up.
 */
export async function reroute(
  dependencies: WorkerDependencies,
  { taskId, step: number }: StepJob,
  binding: Binding,
): Promise<JobOutcome> {
  return dependencies.transactor.run(async (scope): Promise<JobOutcome> => {
    const task = await lockOpenTask(scope.transaction, taskId);
    const steps = await readSteps(scope.transaction, taskId);
    const step = steps.find((entry) => entry.step === number);
    if (task === null || step?.state !== 'QUEUED' || step.binding !== binding.id) return;
    const bindings = bindingsTaking(dependencies.registry, step.input);
    const isStray = !takesWaiting(dependencies.registry, binding, step.input);
    const other = firstUsable(bindings.filter(({ id }) => id !== binding.id));
    if (other === undefined || !(isStray || (isUsable(other) && breakerWait(other) === 0))) {
      // A stray that nobody here takes is for another process; the sweep gives it up when none has known it for a while.
      if (isStray) return { againInSeconds: STRAY_SECONDS };
      return wait(dependencies, scope, { task, step, bindings });
    }
    await moveStep(scope.transaction, { taskId, step: number, state: 'QUEUED', binding: other.id });
    const later = isStray ? STRAY_SECONDS : 0;
    await enqueueStarts(scope, task, [{ step: number, binding: other.id }], later);
  });
}

/** Most tasks whose stage is changed at once; what is beyond them is called paused until it starts. */
const MOST_RESUMED = 1_000;

/** Says of what waits at resumed bindings (by their ids) that it is queued: a start job is looked at only when there is a slot. */
export async function showResumed(
  { transactor }: Pick<WorkerDependencies, 'transactor'>,
  bindings: readonly string[],
): Promise<void> {
  await transactor.run(async (scope) => {
    const paused = await lockQueuedTasks(scope.transaction, { stage: PAUSED, bindings, limit: MOST_RESUMED });
    await scope.append(
      paused.map(({ id, stage }) => ({ taskId: id, stage: stage.replace(PAUSED, 'queued') as Stage })),
    );
  });
}

interface Waiting {
  readonly task: TaskRow;
  readonly step: StepRow;
  readonly bindings: readonly Binding[];
}

/** The longer it has waited, the longer its pauses: whoever comes back is not asked by all at once. */
async function wait(
  { registry, transitions }: WorkerDependencies,
  scope: TransactionScope,
  { task, step, bindings }: Waiting,
): Promise<JobOutcome> {
  const binding = registry.byId(step.binding);
  if (binding?.isPaused?.() === true) {
    const stage = formatStage(step, PAUSED);
    await scope.append([{ taskId: task.id, stage }]);
    return { againInSeconds: PAUSED_SECONDS };
  }
  const spent = (Date.now() - (step.startedAt?.getTime() ?? Date.now())) / 1000;
  const budget = longestBudget(bindings);
  if (spent > budget) {
    const failure = unansweredFailure(step.input.generator, budget);
    await transitions.failStep(scope, task, { step: step.step, failure });
    return;
  }
  const pause = pauseSeconds(Math.log2(1 + spent / 8), binding === null ? 0 : breakerWait(binding));
  await noteFirstTry(scope.transaction, { taskId: task.id, step: step.step });
  const why = (binding?.breaker?.pauseMs() ?? 0) > 0 ? 'away' : 'busy';
  await scope.append([{ taskId: task.id, stage: waitingStage(step, why, pause) }]);
  return { againInSeconds: pause };
}

function unansweredFailure(generator: string, seconds: number): Failure {
  const message = `no provider of "${generator}" took it within ${seconds} s; submit it again later`;
  return { code: 'UNAVAILABLE', message, retryable: true };
}
