import { internalCaller, type Caller } from '../../../../platform/access/caller.ts';
import { databaseAway } from '../../../../platform/database-away.ts';
import { AppError, toError } from '../../../../platform/errors.ts';
import type { Logger } from '../../../../platform/process/logger.ts';
import type { JobHandler, Queue, QueueWorker } from '../../../../platform/queue/queue.ts';
import type { MediaDatabase, TaskRow } from '../../database/database.ts';
import { listWorkFiles } from '../../domain/work/files.ts';
import type { Work } from '../../domain/work/work.ts';
import { TASK_QUEUE_OPTIONS } from '../rules/queues.ts';
import type { TaskService } from '../rules/task-service.ts';
import { BULK_QUEUE, type BulkJob } from './bulk.ts';
import { type BulkRow, endOperation, nextTasks, noteTask, readOperation } from './store.ts';

interface Parts {
  readonly database: MediaDatabase;
  readonly queue: Queue;
  readonly tasks: Pick<TaskService, 'submit' | 'cancel'>;
  readonly logger: Logger;
  /** Days that prompts are kept; 0 or absent: as long as their task. */
  readonly promptRetentionDays?: number | undefined;
}

/** Operations at once in this process, and tasks of one turn: others have theirs in between. */
const SLOTS = 2;
const TURN = 25;
/** Pause while a queue is full, or until a budget has room again. */
const PAUSE_SECONDS = 5;
/** A budget that has room again within this time is waited for. */
const SOON_SECONDS = 60;
const DAY_MS = 86_400_000;

/**
 * Does operations on many tasks, one task after the other. Any number of processes may run one over the same database.
 * Makes the worker; it does nothing until it is started.
 */
export function createBulkWorker(parts: Parts) {
  let worker: QueueWorker | null = null;
  return {
    async start(): Promise<void> {
      await parts.queue.define(BULK_QUEUE, TASK_QUEUE_OPTIONS);
      worker = await parts.queue.work(BULK_QUEUE, { slots: SLOTS }, createHandler(parts));
    },
    /** Leaves what runs to the next worker, which goes on after the last task that was noted. */
    async stop(graceSeconds: number): Promise<void> {
      await worker?.stop(graceSeconds);
    },
  };
}

function createHandler(parts: Parts): JobHandler {
  const { database } = parts;
  return async ({ data, signal }) => {
    const { id } = data as unknown as BulkJob;
    for (let count = 0; count < TURN; count += 1) {
      if (signal.aborted) return { againInSeconds: 0 };
      const operation = await readOperation(database, id);
      if (operation?.state !== 'RUNNING') return undefined;
      const [next] = await nextTasks(database, operation, 1);
      if (next === undefined) {
        await endOperation(database, id, 'DONE');
        return undefined;
      }
      const problem = await catchProblem(
        () => act(parts, operation, next),
        (error) => parts.logger.error({ error, operation: id, taskId: next.id }, 'a task of many failed'),
      );
      if (problem === LATER) return { againInSeconds: PAUSE_SECONDS };
      await noteTask(database, operation, { taskId: next.id, problem });
    }
    return { againInSeconds: 0 };
  };
}

const LATER = Symbol('later');

/**
 * Why it was refused; null when it was done, LATER when it can be done in a while. A mistake of ours is told to `onMistake`, and
 * is the end of this task alone: tried again it would keep all others from their turn.
 */
async function catchProblem(
  work: () => Promise<unknown>,
  onMistake: (error: Error) => void,
): Promise<string | null | typeof LATER> {
  try {
    await work();
    return null;
  } catch (thrown) {
    if (databaseAway(thrown) !== undefined) throw thrown;
    if (thrown instanceof AppError && thrown.code === 'UNAVAILABLE') throw thrown;
    if (thrown instanceof AppError && thrown.code !== 'INTERNAL')
      return isPassing(thrown) ? LATER : thrown.message;
    onMistake(toError(thrown));
    return 'it failed by a mistake of ours';
  }
}

/** Whether there is room again soon: in the queue, or in a budget of starts a minute or of work at once. */
function isPassing({ code, retryAfter = Infinity }: AppError): boolean {
  return code === 'QUEUE_FULL' || (code === 'BUDGET_EXCEEDED' && retryAfter <= SOON_SECONDS);
}

async function act(parts: Parts, operation: BulkRow, task: TaskRow): Promise<void> {
  const { tasks } = parts;
  const { id: taskId } = task;
  if (operation.action === 'CANCEL') {
    await tasks.cancel(internalCaller(operation.traceId), taskId);
    return;
  }
  if (isForgotten(task, parts.promptRetentionDays ?? 0)) {
    throw new AppError('NOT_FOUND', 'its prompt is no longer kept');
  }
  const work = task.input as unknown as Work;
  // The key has a repeated turn answer what the one before has started.
  const idempotencyKey = `bulk-${operation.id}-${taskId}`;
  const fingerprint = { operation: 'restartTasks', taskId };
  await tasks.submit(asOwner(task, operation), {
    work,
    fileIds: listFileIds(work),
    idempotencyKey,
    fingerprint,
  });
}

/** What is started again belongs to whom it belonged to, and counts against their budgets. */
function asOwner({ owner }: Pick<TaskRow, 'owner'>, { traceId }: BulkRow): Caller {
  return { kind: 'user', id: owner, scopes: [], traceId, address: null };
}

function isForgotten({ endedAt }: TaskRow, days: number): boolean {
  return days > 0 && endedAt !== null && endedAt.getTime() < Date.now() - days * DAY_MS;
}

function listFileIds(work: Work): readonly string[] {
  const refs =
    work.kind === 'RECIPE'
      ? work.image === undefined
        ? []
        : [work.image]
      : listWorkFiles(work).map(({ file }) => file);
  return refs.flatMap((ref) => ('fileId' in ref ? [ref.fileId] : []));
}
