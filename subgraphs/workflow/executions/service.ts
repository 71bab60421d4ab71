import type { Caller } from '../../../platform/access/caller.ts';
import { badInput, notFound, toError } from '../../../platform/errors.ts';
import type { EventBus } from '../../../platform/events/event-bus.ts';
import { isUuid, newTraceId } from '../../../platform/ids.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import {
  type Execution,
  type ExecutionEvent,
  type ExecutionKey,
  type ExecutionService,
  isEnded,
  statusOfTask,
  mayReadExecution,
} from '../domain/execution.ts';
import { listPage } from '../lists/list-page.ts';
import { leavableStream, watchVersions } from '../subscriptions/watch-versions.ts';
import { execute, type ExecuteDependencies } from './execute.ts';
import { type ExecutionLifecycle, executionTopic } from './lifecycle.ts';
import type { MediaClient } from './media-client.ts';
import type { ExecutionStore, StoredExecution } from './store.ts';

/** The dependencies of the service. */
export interface ExecutionDependencies extends ExecuteDependencies {
  readonly bus: EventBus;
}

/** Creates the service (documented in domain/execution.ts). */
export function createExecutionService(dependencies: ExecutionDependencies): ExecutionService {
  const { store, media, logger } = dependencies;
  return {
    execute: (caller, request) => execute(dependencies, caller, request),
    find: (caller, key) => find(store, caller, key),
    byIds: async (caller, ids) => {
      const found = await readable(caller, ids, (known) => store.byIds(known));
      const byId = new Map(found.map((execution) => [execution.id, execution]));
      return ids.map((id) => byId.get(id.toLowerCase()) ?? null);
    },
    readTaskIds: async (ids) => {
      const found = new Map((await store.byIds(ids)).map(({ id, taskId }) => [id, taskId]));
      return ids.map((id) => found.get(id) ?? null);
    },
    byTaskIds: async (caller, taskIds) => {
      const found = await readable(caller, taskIds, (known) => store.byTaskIds(known));
      const byTask = new Map(found.map((execution) => [execution.taskId, execution]));
      return taskIds.map((id) => byTask.get(id.toLowerCase()) ?? null);
    },
    liveTasks: (taskIds) => orUnknown(logger, taskIds, media.tasks(taskIds, newTraceId())),
    taskCosts: (taskIds) => orUnknown(logger, taskIds, media.costs(taskIds, newTraceId())),
    list(caller, request) {
      const seesAll = caller.kind === 'internal' || caller.scopes.includes('admin');
      // A service key lists a user's executions, or its own.
      const seesUser = caller.kind === 'key' && request.userId !== null;
      const source = { ...store, mayRead: mayReadExecution, seesAll: seesAll || seesUser };
      return listPage(source, caller, request);
    },
    watch: async (caller, id, afterSeq, signal) => {
      const execution = await find(store, caller, { id });
      if (execution === null) throw notFound('execution', id);
      // Events carry the stored id; the one in the request may be in capital letters.
      return watchExecution(dependencies, { id: execution.id, afterSeq, signal, traceId: caller.traceId });
    },
  };
}

async function find(store: ExecutionStore, caller: Caller, key: ExecutionKey): Promise<Execution | null> {
  const keys = Object.entries(key).filter(([, value]) => value !== null && value !== undefined);
  const [entry] = keys;
  if (entry === undefined || keys.length > 1) {
    throw badInput('id', 'execution takes exactly one of id, taskId and externalId');
  }
  const [name, value] = [entry[0], String(entry[1])];
  if (name === 'externalId') return store.byExternalId(caller.id, value);
  const found = await readable(caller, [value], (known) =>
    name === 'id' ? store.byIds(known) : store.byTaskIds(known),
  );
  return found[0] ?? null;
}

/** Reads by ids; leaves out malformed ids and executions that the caller may not read. */
async function readable(
  caller: Caller,
  ids: readonly string[],
  read: (known: readonly string[]) => Promise<readonly StoredExecution[]>,
): Promise<readonly StoredExecution[]> {
  const known = ids.filter(isUuid);
  const found = known.length === 0 ? [] : await read(known);
  return found.filter((execution) => mayReadExecution(caller, execution));
}

/** Without an answer from media a list still shows what is stored here. */
async function orUnknown<Part>(
  logger: Logger,
  taskIds: readonly string[],
  asked: Promise<readonly (Part | null)[]>,
): Promise<readonly (Part | null)[]> {
  try {
    return await asked;
  } catch (thrown) {
    logger.warn({ error: toError(thrown), tasks: taskIds.length }, 'media does not answer about tasks');
    return taskIds.map(() => null);
  }
}

interface WatchDependencies {
  readonly store: ExecutionStore;
  readonly media: MediaClient;
  readonly lifecycle: ExecutionLifecycle;
  readonly bus: EventBus;
}

interface WatchRequest {
  readonly id: string;
  readonly afterSeq: number;
  readonly traceId: string;
  readonly signal: AbortSignal;
}

/**
 * Streams an execution's log, which is its task's log in media. Waits until media has the task; a refused start is one
 * FAILED entry.
 */
function watchExecution(
  dependencies: WatchDependencies,
  request: WatchRequest,
): AsyncIterableIterator<ExecutionEvent> {
  return leavableStream(request.signal, (signal) => entries(dependencies, { ...request, signal }));
}

async function* entries(
  dependencies: WatchDependencies,
  { id, afterSeq, traceId, signal }: WatchRequest,
): AsyncGenerator<ExecutionEvent> {
  const execution = await untilStarted(dependencies, id, signal);
  if (execution === null) return;
  if (execution.startedAt === null && isEnded(execution.status)) {
    if (afterSeq < 1) yield toRefusalEvent(execution);
    return;
  }
  for await (const entry of dependencies.media.watch({ id: execution.taskId, afterSeq, traceId, signal })) {
    const { seq, at, state, stage, progress } = entry;
    const status = statusOfTask(state);
    // The job of the end may still be queued: a reader of this entry must find the execution ended.
    if (isEnded(status)) await dependencies.lifecycle.settle(execution);
    yield { executionId: id, seq, at, status, stage, progress };
  }
}

function toRefusalEvent({
  id,
  endedAt,
  createdAt,
  status,
  stage,
  progress,
}: StoredExecution): ExecutionEvent {
  return { executionId: id, seq: 1, at: endedAt ?? createdAt, status, stage, progress };
}

/** The execution once it is no longer PENDING; null when the subscriber left before. */
async function untilStarted(
  { store, bus }: WatchDependencies,
  id: string,
  signal: AbortSignal,
): Promise<StoredExecution | null> {
  const read = async (): Promise<StoredExecution> => {
    const [execution] = await store.byIds([id]);
    if (execution === undefined) throw notFound('execution', id);
    return execution;
  };
  for await (const execution of watchVersions({ bus, topic: executionTopic, id, read, signal })) {
    if (execution.status !== 'PENDING') return execution;
  }
  return null;
}
