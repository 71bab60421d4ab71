import { internalCaller, mayChange, type Caller } from '../../../../platform/access/caller.ts';
import { isManageToken } from '../../../../platform/access/manage-token.ts';
import { AppError, notFound } from '../../../../platform/errors.ts';
import { isUuid } from '../../../../platform/ids.ts';
import type { Queue } from '../../../../platform/queue/queue.ts';
import type { MediaDatabase } from '../../database/database.ts';
import type { FileService } from '../../files/files.ts';
import type { GeneratorRegistry } from '../../generators/bindings/binding.ts';
import { ERASE_QUEUE, upstreamErasures } from './erase-upstream.ts';

/** Removing tasks that have ended, with all that was kept of them: prompt, log, attempts, and the files they made. */

/** What removing needs. */
export interface RemovalParts {
  readonly database: MediaDatabase;
  readonly files: Pick<FileService, 'remove'>;
  readonly queue: Pick<Queue, 'isDefined' | 'enqueue' | 'wake'>;
  readonly registry: Pick<GeneratorRegistry, 'ofAttempt'>;
  /** Aborted when the process stops: what is left is removed by the next run. */
  readonly stopping?: AbortSignal | undefined;
}

/** Days for which an execution may still ask for its task: without it the execution would start the work again. */
const EXECUTION_DAYS = 30;
const DAY_MS = 86_400_000;

/**
 * Removes a task of the caller's, or one whose token proves who made it. NOT_FOUND for those of others; CONFLICT while it
 * runs, and for that of an execution in its first 30 days.
 */
export async function deleteTask(
  parts: RemovalParts,
  caller: Caller,
  { id, manageToken }: { readonly id: string; readonly manageToken: string | null },
): Promise<void> {
  const task = isUuid(id) ? await readEnd(parts.database, id) : undefined;
  const isMaker = () => isManageToken(manageToken, task?.manageTokenHash ?? null);
  if (task === undefined || !mayChange(caller, task.owner, isMaker)) throw notFound('task', id);
  if (task.endedAt === null) {
    throw new AppError('CONFLICT', 'the task has not ended: cancel it first', { field: 'id' });
  }
  if (task.onEnd !== null && task.endedAt.getTime() > Date.now() - EXECUTION_DAYS * DAY_MS) {
    const why = `it is the work of an execution, which may ask for it for ${EXECUTION_DAYS} days`;
    throw new AppError('CONFLICT', `the task can not be deleted yet: ${why}`, { field: 'id' });
  }
  await removeTask(parts, id);
}

/** Removes tasks that ended more than so many days ago, at most so many of them; answers how many. */
export async function removeOldTasks(parts: RemovalParts, days: number, limit: number): Promise<number> {
  const rows = await parts.database
    .selectFrom('media.tasks')
    .select('id')
    .where('endedAt', '<', new Date(Date.now() - days * DAY_MS))
    .where((where) =>
      where.or([
        where('onEnd', 'is', null),
        where('endedAt', '<', new Date(Date.now() - EXECUTION_DAYS * DAY_MS)),
      ]),
    )
    .orderBy('endedAt')
    .limit(limit)
    .execute();
  for (const { id } of rows) {
    if (parts.stopping?.aborted) break;
    await removeTask(parts, id);
  }
  return rows.length;
}

/**
 * Files first: a process that dies in between leaves a task that is found again, and no file that nothing names. What providers keep is
 * deleted by jobs, as they may be away.
 */
export async function removeTask(parts: RemovalParts, id: string): Promise<void> {
  const { database, files, queue } = parts;
  const made = await database.selectFrom('media.media').select('id').where('taskId', '=', id).execute();
  for (const file of made) await removeFile({ files }, file.id);
  // A release before has workers that don't know the queue.
  const isErasing = await queue.isDefined(ERASE_QUEUE);
  await database.transaction().execute(async (transaction) => {
    if (isErasing)
      await queue.enqueue(transaction, ...(await upstreamErasures(transaction, parts.registry, id)));
    await transaction.deleteFrom('media.idempotency').where('taskId', '=', id).execute();
    // Logs are not tied to their tasks, so that writing them needs no look at these.
    await transaction.deleteFrom('media.taskEvents').where('taskId', '=', id).execute();
    // Steps, attempts and webhook deliveries go with it; totals of usage stay.
    await transaction.deleteFrom('media.tasks').where('id', '=', id).execute();
  });
  if (isErasing) queue.wake(ERASE_QUEUE);
}

/** Removes a file; nothing when it is gone. */
export async function removeFile({ files }: Pick<RemovalParts, 'files'>, id: string): Promise<void> {
  await files.remove(internalCaller('removal'), id).catch((thrown: unknown) => {
    if (!(thrown instanceof AppError) || thrown.code !== 'NOT_FOUND') throw thrown;
  });
}

function readEnd(database: MediaDatabase, id: string) {
  return database
    .selectFrom('media.tasks')
    .select(['owner', 'endedAt', 'onEnd', 'manageTokenHash'])
    .where('id', '=', id)
    .executeTakeFirst();
}
