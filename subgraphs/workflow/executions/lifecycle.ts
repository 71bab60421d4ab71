import { toError, type AppError } from '../../../platform/errors.ts';
import type { EventBus } from '../../../platform/events/event-bus.ts';
import { newTraceId } from '../../../platform/ids.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import { traceIdIn, withSpan, type Tracer } from '../../../platform/tracing/span.ts';
import { isEnded, statusOfTask, type LiveTask } from '../domain/execution.ts';
import { isFinalRefusal, isOverBudget, type MediaClient } from './media-client.ts';
import type { EndHook, ExecutionStore, StoredExecution } from './store.ts';

/** Topic of the bus: an execution (by id) has reached a version. */
export const executionTopic = 'execution';
/** Queue of the backstop jobs {executionId}: starts what could not be started inline. */
export const startQueue = 'workflow.start-execution';
/** Queue that media writes to when a task has ended, {taskId, state}. */
export const endedQueue = 'workflow.task-ended';

/** Queue of jobs {executionId}: cancels what was refunded in full. */
export const cancelQueue = 'workflow.cancel-execution';

/** The dependencies of the lifecycle. */
export interface LifecycleDependencies {
  readonly store: ExecutionStore;
  readonly media: MediaClient;
  readonly bus: EventBus;
  readonly logger: Logger;
  /** Continues the trace in which it was bought or started (default: nothing is traced). */
  readonly tracer?: Tracer | undefined;
  /** Runs in the transaction that ends an execution; once per execution. */
  readonly onEnd?: EndHook | undefined;
}

/** The transitions of executions. All are idempotent and safe to run in any process. */
export type ExecutionLifecycle = ReturnType<typeof createExecutionLifecycle>;

/** Makes the lifecycle. */
export function createExecutionLifecycle(dependencies: LifecycleDependencies) {
  // All who follow an execution want its end at the same moment.
  const settling = new Map<string, Promise<'ended' | 'open'>>();
  return {
    /**
     * Starts the task of a PENDING execution at media. `later` when media is unavailable (a retry is safe: the start is
     * idempotent by task id); `refused` ends the execution. Of an execution that has ended it cancels what media has all the same.
     */
    start(execution: StoredExecution, signal: AbortSignal): Promise<'done' | 'refused' | 'later'> {
      const { traceparent } = execution;
      const span = dependencies.tracer?.start('start execution', { kind: 'consumer', traceparent }) ?? null;
      return withSpan(span, () => start(dependencies, execution, signal));
    },
    /** Ends an execution whose task has ended; `open` when it has not. */
    settle(execution: StoredExecution): Promise<'ended' | 'open'> {
      const known = settling.get(execution.id);
      if (known !== undefined) return known;
      const settled = settle(dependencies, execution).finally(() => settling.delete(execution.id));
      settling.set(execution.id, settled);
      return settled;
    },
    /** Ends a PENDING execution that has waited too long for its start, unless media has its task. */
    expire: (execution: StoredExecution) => expire(dependencies, execution),
    /** Cancels an execution and its task, as far as they have not ended. UNAVAILABLE when media does not answer. */
    cancel: (execution: StoredExecution) => cancel(dependencies, execution),
  };
}

async function start(
  dependencies: LifecycleDependencies,
  execution: StoredExecution,
  signal: AbortSignal,
): Promise<'done' | 'refused' | 'later'> {
  const { store } = dependencies;
  if (execution.status !== 'PENDING') {
    // The answer to an earlier start may have been lost, and the cancel that followed it too.
    await cancelUnwanted(dependencies, execution);
    return 'done';
  }
  const answered = await startTask(dependencies, execution, signal);
  if (answered !== 'taken') return answered;
  const started = await store.markStarted(execution.id);
  publish(dependencies, started);
  if (started === null) await cancelUnwanted(dependencies, execution);
  return 'done';
}

/** Whether media has taken the task of an execution; one that it refuses for good ends it. */
async function startTask(
  dependencies: LifecycleDependencies,
  execution: StoredExecution,
  signal: AbortSignal,
): Promise<'taken' | 'refused' | 'later'> {
  const { media, logger } = dependencies;
  try {
    const { taskId, taskOwner, start: input, sold } = execution;
    const request = { id: taskId, owner: taskOwner, onEnd: endedQueue, start: input, sold };
    const traceId = traceIdIn(execution.traceparent) ?? newTraceId();
    await media.startTask({ ...request, traceId, signal });
    return 'taken';
  } catch (thrown) {
    if (!isFinalRefusal(thrown) && !isOverBudget(thrown)) {
      logger.warn(
        { error: toError(thrown), executionId: execution.id },
        'an execution could not be started yet',
      );
      return 'later';
    }
    // The answer to an earlier start may have been lost: what media has is not refused.
    const isThere = await hasTask(dependencies, execution);
    if (isThere !== false) return isThere === null ? 'later' : 'taken';
    await refuse(dependencies, execution, thrown);
    return 'refused';
  }
}

/** Whether media has the task of an execution; null while it does not say. */
async function hasTask(
  { media, logger }: LifecycleDependencies,
  { id, taskId }: StoredExecution,
): Promise<boolean | null> {
  try {
    const [task = null] = await media.tasks([taskId], newTraceId());
    return task !== null;
  } catch (thrown) {
    logger.warn({ error: toError(thrown), executionId: id }, 'media does not say whether it has a task');
    return null;
  }
}

/** An execution may have been cancelled or have expired while media took its task. */
async function cancelUnwanted({ store, media }: LifecycleDependencies, { id, taskId }: StoredExecution) {
  const [now] = await store.byIds([id]);
  if (now?.startedAt === null && isEnded(now.status)) await media.cancelTask(taskId, newTraceId());
}

async function refuse(
  dependencies: LifecycleDependencies,
  { id }: StoredExecution,
  { code, message }: AppError,
): Promise<void> {
  const change = {
    status: 'FAILED',
    stage: 'refused',
    progress: 0,
    error: { code, message },
    wasStarted: false,
  } as const;
  publish(dependencies, await dependencies.store.markEnded(id, change, dependencies.onEnd));
}

async function settle(
  dependencies: LifecycleDependencies,
  execution: StoredExecution,
): Promise<'ended' | 'open'> {
  if (isEnded(execution.status)) return 'ended';
  const [now = execution] = await dependencies.store.byIds([execution.id]);
  if (isEnded(now.status)) return 'ended';
  const [task = null] = await dependencies.media.tasks([execution.taskId], newTraceId());
  // A task that media had and no longer has will never end by itself.
  const isLost = task === null && execution.status === 'RUNNING';
  if (!isLost && (task === null || !isEnded(statusOfTask(task.state)))) return 'open';
  const end = task === null ? lostEnd : toEnd(task);
  publish(dependencies, await dependencies.store.markEnded(execution.id, end, dependencies.onEnd));
  return 'ended';
}

const lostEnd = {
  status: 'FAILED',
  stage: 'lost',
  progress: 0,
  error: { code: 'LOST', message: 'the media service no longer has the task of this execution' },
  wasStarted: true,
} as const;

const cancelledEnd = {
  status: 'CANCELLED',
  stage: 'cancelled',
  progress: 0,
  error: null,
  wasStarted: false,
} as const;

async function cancel(dependencies: LifecycleDependencies, execution: StoredExecution): Promise<void> {
  const { store, media, onEnd } = dependencies;
  if (isEnded(execution.status)) return;
  if (execution.status === 'PENDING') {
    publish(dependencies, await store.markEnded(execution.id, cancelledEnd, onEnd));
  }
  // A running one ends when media says that its task has; a start may be on its way.
  await media.cancelTask(execution.taskId, newTraceId());
}

const expiredEnd = {
  status: 'FAILED',
  stage: 'not started',
  progress: 0,
  error: { code: 'TIMED_OUT', message: 'the execution could not be started in time' },
  wasStarted: false,
} as const;

async function expire(dependencies: LifecycleDependencies, execution: StoredExecution): Promise<void> {
  const { store, logger } = dependencies;
  // Only the answer of its start may be lost. While media can't be asked, it has not taken it as far as anybody knows.
  if ((await hasTask(dependencies, execution)) === true)
    return publish(dependencies, await store.markStarted(execution.id));
  logger.error({ executionId: execution.id }, 'an execution could not be started in time');
  publish(dependencies, await store.markEnded(execution.id, expiredEnd, dependencies.onEnd));
}

function toEnd({ state, stage, progress, error }: LiveTask) {
  return { status: statusOfTask(state), stage, progress, error, wasStarted: true };
}

function publish({ bus }: LifecycleDependencies, execution: StoredExecution | null): void {
  if (execution !== null) bus.publish(executionTopic, execution.id, execution.version);
}
