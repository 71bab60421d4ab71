import type { NewJob } from '../../../../platform/queue/queue.ts';
import type { TaskRow } from '../../database/database.ts';
import { type PlannedStep, asJson } from '../../domain/task.ts';
import type { GeneratorRegistry } from '../../generators/bindings/binding.ts';
import { bindingsTaking, checkWork, firstUsable } from '../../generators/limits/limits.ts';
import type { NewStep } from '../storage/submission-store.ts';
import type { TransactionScope } from '../storage/transactor.ts';
import { startQueue, type StepJob } from './queues.ts';

/** The rows of planned steps: numbered after the existing ones, each queued at the first binding that takes it. */
export function stepRows(
  registry: GeneratorRegistry,
  planned: readonly PlannedStep[],
  before: number,
): readonly NewStep[] {
  return planned.map(({ label, input }, index) => {
    const binding = firstUsable(bindingsTaking(registry, input));
    if (binding === undefined) {
      checkWork(input, registry);
      throw new Error(`generator ${input.generator} has no binding`);
    }
    return { step: before + index + 1, label, input, binding: binding.id };
  });
}

type StartedTask = Pick<TaskRow, 'id' | 'owner'>;

/** Enqueues the start of each step. */
export async function enqueueStarts(
  scope: TransactionScope,
  task: StartedTask,
  steps: readonly Pick<NewStep, 'step' | 'binding'>[],
  startAfterSeconds = 0,
): Promise<void> {
  const later = startAfterSeconds > 0 ? { startAfterSeconds } : {};
  await scope.enqueue(...startJobs(task, steps).map((job) => ({ ...job, ...later })));
}

/** The jobs that start steps. A binding starts the work of its callers in turn. */
export function startJobs(
  { id: taskId, owner }: StartedTask,
  steps: readonly Pick<NewStep, 'step' | 'binding'>[],
): readonly NewJob[] {
  return steps.map(({ step, binding }) => ({
    queue: startQueue(binding),
    data: asJson({ taskId, step } satisfies StepJob),
    owner,
  }));
}
