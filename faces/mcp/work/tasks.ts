import { notFound } from '../../../platform/errors.ts';
import { CancelTask } from '../../../rest-compat/documents/media/task.ts';
import { type Execution, runDocument } from '../../../rest-compat/replies/results.ts';
import { isEnded } from '../../../rest-compat/replies/task.ts';
import { followTask } from '../../../rest-compat/wait.ts';
import { type McpTask, McpTaskById } from './documents.ts';
import { type ReadFile, resultOf } from './results.ts';

/** Tasks of the graph as tasks of the protocol's extension. There is one store of tasks, and it is the graph's. */

/** How tasks are told. */
export interface TaskOptions {
  readonly readFile: ReadFile;
  /** Days that ended tasks are kept (TASK_RETENTION_DAYS); 0: forever. */
  readonly retentionDays: number;
}

/** Milliseconds between two looks of a client that polls. */
const POLL_MS = 2_000;
const DAY_MS = 86_400_000;

/** Reads a task of the caller. Throws NOT_FOUND. */
export async function readTask(execution: Execution, id: string): Promise<McpTask> {
  const { task } = await runDocument(execution, McpTaskById, { id });
  if (task === null) throw notFound('task', id);
  return task;
}

/** Asks a task to stop. */
export async function cancelTask(execution: Execution, id: string): Promise<void> {
  await runDocument(execution, CancelTask, { id });
}

/** A task with its result, once it has one: what `tasks/get` answers. */
export async function detailedTask(
  task: McpTask,
  { readFile, ...options }: TaskOptions,
): Promise<Readonly<Record<string, unknown>>> {
  const seed = taskSeed(task, options);
  // A call that failed has a result that says so; `failed` is for errors of the protocol alone.
  return seed.status === 'completed' ? { ...seed, result: await resultOf(task, readFile) } : seed;
}

/** A task without its result: what a call answers that has started it. */
export function taskSeed(task: McpTask, { retentionDays }: Pick<TaskOptions, 'retentionDays'>) {
  const { id, stage, progress, createdAt, startedAt, endedAt } = task;
  const keptMs = retentionDays === 0 ? null : retentionDays * DAY_MS;
  return {
    taskId: id,
    status: toMcpStatus(task),
    statusMessage: isEnded(task) ? (task.error?.message ?? stage) : `${stage}, ${progress} %`,
    createdAt,
    lastUpdatedAt: endedAt ?? startedAt ?? createdAt,
    ttlMs: keptMs,
    pollIntervalMs: POLL_MS,
  };
}

function toMcpStatus({ state }: McpTask): 'working' | 'completed' | 'cancelled' {
  if (state === 'CANCELLED') return 'cancelled';
  return isEnded({ state }) ? 'completed' : 'working';
}

/** A task as it is, and after each of its changes, to its end. */
export async function* tellTask(
  execution: Execution,
  { id, stop }: { readonly id: string; readonly stop: AbortSignal },
  options: TaskOptions,
): AsyncGenerator<object> {
  const task = await readTask(execution, id);
  yield await detailedTask(task, options);
  for await (const progress of followTask({ ...execution, task, stop })) {
    const { state, stage } = progress;
    const now = isEnded(progress)
      ? await readTask(execution, id)
      : { ...task, state, stage, progress: progress.progress };
    yield await detailedTask(now, options);
  }
}
