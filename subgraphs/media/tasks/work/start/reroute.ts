import type { JobOutcome } from '../../../../../platform/queue/queue.ts';
import type { StepRow, TaskRow } from '../../../database/database.ts';
import type { Failure } from '../../../domain/failure.ts';
import { stageOf } from '../../../domain/words/stages.ts';
import type { Binding } from '../../../generators/bindings/binding.ts';
import { bindingsTaking, firstUsable, isUsable, takesWaiting } from '../../../generators/limits/limits.ts';
import { longestBudget, pauseSeconds, waitingStage, breakerWait } from '../../rules/patience.ts';
import type { StepJob } from '../../rules/queues.ts';
import { enqueueStarts } from '../../rules/steps.ts';
import { moveStep, noteFirstTry, readSteps } from '../../storage/step-store.ts';
import { lockOpenTask } from '../../storage/task-store.ts';
import type { TransactionScope } from '../../storage/transactor.ts';
import type { WorkerDependencies } from '../attempts/dependencies.ts';
import { PAUSED } from './open-attempt.ts';

/** Seconds after which the work of a paused binding is looked at again; a resume that is heard of hastens it. */
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
    if (task === null) return;
    const steps = await readSteps(scope.transaction, taskId);
    const step = steps.find((entry) => entry.step === number);
    if (step === undefined || step.state !== 'QUEUED' || step.binding !== binding.id) return;
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
    const stage = stageOf(step, PAUSED);
    if (task.stage !== stage) await scope.append([{ taskId: task.id, stage }]);
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
