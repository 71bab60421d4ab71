import { createHash } from 'node:crypto';

import { notFound, AppError } from '../../../platform/errors.ts';
import type { InputOf } from '../../../rest-compat/documents/graphql.ts';
import { CancelTask } from '../../../rest-compat/documents/media/task.ts';
import { type Execution, runDocument } from '../../../rest-compat/replies/results.ts';
import { isEnded } from '../../../rest-compat/replies/task.ts';
import { followTask } from '../../../rest-compat/wait.ts';
import { type McpTask, McpTaskById, McpEstimate } from './documents.ts';
import { type ReadFile, toResult } from './results.ts';

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
  return seed.status === 'completed' ? { ...seed, result: await toResult(task, readFile) } : seed;
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

interface WatchedTask {
  readonly id: string;
  readonly stop: AbortSignal;
}

/** A task as it is, and after each of its changes, to its end; nothing where there is none, or none any more. */
export async function* watchTask(
  execution: Execution,
  watched: WatchedTask,
  options: TaskOptions,
): AsyncGenerator<object> {
  try {
    yield* watchChanges(execution, watched, options);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error;
  }
}

async function* watchChanges(
  execution: Execution,
  { id, stop }: WatchedTask,
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

/** Starting work once: what it may cost, and that a repeated call joins what it has started. */

/** One start by a tool. */
interface Start {
  /** What tells this start from others: the tool, the input of the graph, what the caller varies. */
  readonly call: readonly unknown[];
  /** What it is, for its estimate. */
  readonly estimate: EstimateInput;
  /** Most that it may cost, in the currency of the price list; absent: no bound but budgets. */
  readonly maxCost?: number | undefined;
  /** Starts it under a key, and answers its id. */
  readonly start: (idempotencyKey: string) => Promise<string>;
}

/** What an estimate is asked for. */
type EstimateInput = InputOf<typeof McpEstimate>['input'];

/** Milliseconds after the end of a task in which the same call is answered with it: a client that was cut asks again. */
const JOINED_MS = 10 * 60_000;
/** How often the same call may be repeated within the life of idempotency keys, before it has to differ. */
const MAX_REPEATS = 50;

/** Starts work, or joins what the same call has started. Throws what the graph refuses, and what costs too much. */
export async function startOnce(execution: Execution, start: Start): Promise<McpTask> {
  await checkCost(execution, start);
  let key = computeKey('', start.call);
  for (let repeat = 0; repeat < MAX_REPEATS; repeat += 1) {
    const task = await readTask(execution, await start.start(`mcp-${key}`));
    if (joins(task)) return task;
    // The next key follows from the task that is over, so that two who repeat the call at once join each other.
    key = computeKey(task.id, start.call);
  }
  const message = `this call was repeated ${MAX_REPEATS} times: set variation to make another`;
  throw new AppError('BAD_USER_INPUT', message, { field: 'variation' });
}

/** Whether a repeated call is answered with this task. What failed or was cancelled is tried again. */
function joins(task: McpTask): boolean {
  if (!isEnded(task)) return true;
  return task.state === 'SUCCEEDED' && Date.now() - Date.parse(task.endedAt ?? '') < JOINED_MS;
}

function computeKey(before: string, call: Start['call']): string {
  return createHash('sha256').update(before).update(JSON.stringify(call)).digest('hex').slice(0, 40);
}

/** Refuses work whose expected cost is above what the call allows, or not known. */
async function checkCost(execution: Execution, { maxCost, estimate }: Start): Promise<void> {
  if (maxCost === undefined) return;
  const { estimateCost } = await runDocument(execution, McpEstimate, { input: estimate });
  const { amount, currency } = estimateCost;
  if (amount === null) {
    const message =
      'what this costs is not known, so it is not started under a max_cost: leave it out, or choose a model with a price (find_models)';
    throw new AppError('BUDGET_EXCEEDED', message, { field: 'max_cost' });
  }
  if (amount <= maxCost) return;
  const message = `this is expected to cost ${amount} ${currency ?? ''}, above the max_cost of ${maxCost}: nothing was started`;
  throw new AppError('BUDGET_EXCEEDED', message, { field: 'max_cost' });
}
