import { withAdvisoryLock } from '../../../platform/database/advisory-lock.ts';
import { AppError, toError } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { Queue } from '../../../platform/queue/queue.ts';
import type { WorkflowDatabase } from '../database/database.ts';
import { startQueue, type ExecutionLifecycle } from './lifecycle.ts';
import type { ExecutionStore, StoredExecution } from './store.ts';

/** The dependencies of a sweep. */
export interface SweepDependencies {
  readonly database: WorkflowDatabase;
  readonly store: ExecutionStore;
  readonly lifecycle: ExecutionLifecycle;
  readonly queue: Queue;
  readonly logger: Logger;
  /** Deletes expired rows, at most this many of each table; called by each sweep. */
  readonly prune: (limit: number) => Promise<void>;
  /** Age in milliseconds from which a sweep checks an open execution (default 120,000). */
  readonly overdueAfterMs?: number;
  /** Milliseconds after which an execution that could not be started ends as failed (QUEUE_MAX_HOURS). */
  readonly maxWaitMs: number;
}

/** Most executions whose jobs are compared in one statement. */
const BATCH = 200;

/**
 * Looks after every open execution of some age, in one process at a time: those whose start job was lost get another
 * one, those that waited too long are ended, and so are those whose end was missed.
 */
export async function sweepExecutions(dependencies: SweepDependencies, stopping: AbortSignal): Promise<void> {
  const { database, logger, prune } = dependencies;
  try {
    await withAdvisoryLock(database, 'workflow.executions.sweep', async () => {
      await prune(1_000);
      await sweepPending(dependencies, stopping);
      await sweepRunning(dependencies, stopping);
    });
  } catch (thrown) {
    // The next sweep tries again; nothing depends on this one.
    logger.warn({ error: toError(thrown) }, 'looking for overdue executions failed');
  }
}

async function sweepPending(dependencies: SweepDependencies, stopping: AbortSignal): Promise<void> {
  const { store, maxWaitMs } = dependencies;
  const latest = Date.now() - maxWaitMs;
  let waiting: StoredExecution[] = [];
  for await (const execution of store.openSince('PENDING', overdue(dependencies))) {
    if (stopping.aborted) return;
    if (execution.createdAt.getTime() < latest) {
      await guarded(dependencies, execution, (lifecycle) => lifecycle.expire(execution));
    } else waiting.push(execution);
    if (waiting.length < BATCH) continue;
    await enqueueLost(dependencies, waiting);
    waiting = [];
  }
  await enqueueLost(dependencies, waiting);
}

/** Enqueues the start of those that no job would start any more. */
async function enqueueLost(
  { database, queue, logger }: SweepDependencies,
  waiting: readonly StoredExecution[],
): Promise<void> {
  const lost = await queue.withoutJob(
    startQueue,
    waiting.map(({ id }) => ({ executionId: id })),
  );
  if (lost.length === 0) return;
  logger.warn({ executions: lost }, 'executions without a job are started again');
  const jobs = lost.map((data) => ({ queue: startQueue, data }));
  await database.transaction().execute((transaction) => queue.enqueue(transaction, ...jobs));
  queue.wake(startQueue);
}

async function sweepRunning(dependencies: SweepDependencies, stopping: AbortSignal): Promise<void> {
  for await (const execution of dependencies.store.openSince('RUNNING', overdue(dependencies))) {
    if (stopping.aborted) return;
    await guarded(dependencies, execution, (lifecycle) => lifecycle.settle(execution));
  }
}

/** One execution that can't be looked after does not keep the others from it, unless media is away. */
async function guarded(
  { lifecycle, logger }: SweepDependencies,
  { id }: StoredExecution,
  work: (lifecycle: ExecutionLifecycle) => Promise<unknown>,
): Promise<void> {
  try {
    await work(lifecycle);
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'UNAVAILABLE') throw thrown;
    logger.error(
      { error: toError(thrown), executionId: id },
      'an overdue execution could not be looked after',
    );
  }
}

function overdue({ overdueAfterMs = 120_000 }: SweepDependencies): Date {
  return new Date(Date.now() - overdueAfterMs);
}
