import { notFound } from '../../../platform/errors.ts';
import type { EventBus } from '../../../platform/events/event-bus.ts';
import { isEnded, statusOfTask, type ExecutionEvent } from '../domain/execution.ts';
import { leavableStream } from '../subscriptions/leavable-stream.ts';
import { watchVersions } from '../subscriptions/watch-versions.ts';
import { executionTopic, type ExecutionLifecycle } from './lifecycle.ts';
import type { MediaClient } from './media-client.ts';
import type { ExecutionStore, StoredExecution } from './store.ts';

/** The dependencies of a watch. */
export interface WatchDependencies {
  readonly store: ExecutionStore;
  readonly media: MediaClient;
  readonly lifecycle: ExecutionLifecycle;
  readonly bus: EventBus;
}

/** A request to watch an execution. */
export interface WatchRequest {
  readonly id: string;
  readonly afterSeq: number;
  readonly traceId: string;
  readonly signal: AbortSignal;
}

/**
 * Streams an execution's log, which is its task's log in media. Waits until media has the task; a refused start is one
 * FAILED entry.
 */
export function watchExecution(
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
    if (afterSeq < 1) yield refusalOf(execution);
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

function refusalOf({ id, endedAt, createdAt, status, stage, progress }: StoredExecution): ExecutionEvent {
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
