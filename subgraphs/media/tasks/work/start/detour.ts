import type { JobOutcome } from '../../../../../platform/queue/queue.ts';
import type { Binding } from '../../../generators/bindings/binding.ts';
import { bindingsTaking, firstUsable } from '../../../generators/limits/limits.ts';
import type { StepJob } from '../../rules/queues.ts';
import { enqueueStarts } from '../../rules/steps.ts';
import { moveStep, readSteps } from '../../storage/step-store.ts';
import { lockOpenTask } from '../../storage/task-store.ts';
import type { WorkerDependencies } from '../attempts/dependencies.ts';

/**
 * The upstream of a step that waits is away: another binding that takes the work gets it, else it waits until the upstream may
 * be asked again. Nothing was sent, so that no attempt is used up.
 */
export async function detour(
  { transactor, registry }: WorkerDependencies,
  { taskId, step: number }: StepJob,
  binding: Binding,
): Promise<JobOutcome> {
  return transactor.run(async (scope): Promise<JobOutcome> => {
    const task = await lockOpenTask(scope.transaction, taskId);
    if (task === null) return;
    const steps = await readSteps(scope.transaction, taskId);
    const step = steps.find((entry) => entry.step === number);
    if (step === undefined || step.state !== 'QUEUED' || step.binding !== binding.id) return;
    const other = firstUsable(bindingsTaking(registry, step.input).filter(({ id }) => id !== binding.id));
    if (other === undefined || (other.breaker?.pauseMs() ?? 0) > 0) {
      return { againInSeconds: Math.max(1, Math.ceil((binding.breaker?.pauseMs() ?? 0) / 1000)) };
    }
    await moveStep(scope.transaction, { taskId, step: number, state: 'QUEUED', binding: other.id });
    await enqueueStarts(scope, taskId, [{ step: number, binding: other.id }]);
  });
}
