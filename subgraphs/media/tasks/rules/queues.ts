import type { NewJob, Queue } from '../../../../platform/queue/queue.ts';
import type { TaskRow } from '../../database/database.ts';
import { asJson, type PlannedStep } from '../../domain/task.ts';
import type { GeneratorRegistry } from '../../generators/bindings/binding.ts';
import { bindingsTaking, checkWork, firstUsable } from '../../generators/limits/limits.ts';
import { ERASE_QUEUE } from '../removal/remove.ts';
import type { NewStep } from '../storage/submission-store.ts';
import type { TransactionScope } from '../storage/transactor.ts';
import type { EndListener } from './hooks.ts';

/** Names and options of the task engine's queues. */

/** Fetching the results of finished work into the object store. */
export const STORE_QUEUE = 'media.store-result';

/** Jobs only fail when the database or the process does (what upstreams do is data of the attempts), so they are tried for most of an hour. */
export const TASK_QUEUE_OPTIONS = { retryLimit: 50, retryDelaySeconds: 1, retryDelayMaxSeconds: 60 };

/** The start queue of a binding. Queue names take no '#'. */
export function startQueue(bindingId: string): string {
  return `media.start.${bindingId.replaceAll(/[^\w./-]/g, '.')}`;
}

/** A start or a store of one step. */
export type StepJob = { readonly taskId: string; readonly step: number };

/** The job that stores what a step has made. Callers are served in turn, and so are the bindings of one caller. */
export function storeJob(
  { id: taskId, owner }: { readonly id: string; readonly owner: string },
  { step, binding }: { readonly step: number; readonly binding: string },
): NewJob {
  return { queue: STORE_QUEUE, data: asJson({ taskId, step } satisfies StepJob), owner, kind: binding };
}

/** What work is queued for. */
export interface QueueOptions {
  readonly queue: Queue;
  readonly registry: GeneratorRegistry;
  readonly endListener?: EndListener | undefined;
}

/** Declares every queue of the engine. */
export async function defineTaskQueues({ queue, registry, endListener }: QueueOptions): Promise<void> {
  const names = [...registry.all().map(({ id }) => startQueue(id)), STORE_QUEUE, ERASE_QUEUE];
  await queue.define(names, TASK_QUEUE_OPTIONS);
  await endListener?.defineQueues();
}

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
