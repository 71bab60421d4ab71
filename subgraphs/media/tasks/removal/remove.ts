import { sql } from 'kysely';

import { internalCaller, mayChange, type Caller } from '../../../../platform/access/caller.ts';
import { isManageToken } from '../../../../platform/access/manage-token.ts';
import { databaseAway } from '../../../../platform/database-away.ts';
import { AppError, notFound, toError } from '../../../../platform/errors.ts';
import { isUuid } from '../../../../platform/ids.ts';
import type { Logger } from '../../../../platform/process/logger.ts';
import type { Queue, JobHandler, NewJob } from '../../../../platform/queue/queue.ts';
import type { MediaDatabase, MediaTransaction } from '../../database/database.ts';
import { UpstreamError } from '../../domain/failure.ts';
import { asJson } from '../../domain/task.ts';
import { requestKind } from '../../domain/work/request.ts';
import type { StepKind } from '../../domain/work/work.ts';
import type { FileService } from '../../files/files.ts';
import type { GeneratorRegistry, PlacedAttempt } from '../../generators/bindings/binding.ts';
import type { Handle } from '../../providers/contract/provider.ts';
import { readAttempts } from '../storage/attempt-store.ts';
import { readSteps } from '../storage/step-store.ts';

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

/** Which old tasks a batch removes. */
interface OldTasks {
  /** Days since their end. */
  readonly days: number;
  /** Most of one batch. */
  readonly limit: number;
  /** Those that could not be removed in this run: each batch passes them by, so that others have their turn, and adds its own. */
  readonly left: Set<string>;
}

/** Removes tasks that ended long ago, the oldest first; answers how many it tried. One that can't be removed is left. */
export async function removeOldTasks(
  parts: RemovalParts & { readonly logger: Logger },
  { days, limit, left }: OldTasks,
): Promise<number> {
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
    .where(sql<boolean>`id <> all(${[...left]}::uuid[])`)
    .orderBy('endedAt')
    .limit(limit)
    .execute();
  for (const { id } of rows) {
    if (parts.stopping?.aborted) break;
    await removeTask(parts, id).catch((error: unknown) => {
      if (databaseAway(error) !== undefined) throw error;
      left.add(id);
      parts.logger.error({ error: toError(error), taskId: id }, 'an old task could not be removed');
    });
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

/** Deleting at a provider what it keeps of the work of a removed task, where its wire has a request for that. */

/** Its queue. */
export const ERASE_QUEUE = 'media.erase-upstream';

/** What of an attempt outlives its task until the provider has deleted it: ids, no words. */
interface ErasedAttempt extends PlacedAttempt {
  readonly kind: StepKind;
  readonly handle: Handle;
}

type Registry = Pick<GeneratorRegistry, 'ofAttempt'>;

/** The jobs that delete at providers what they keep of a task, which is there still. */
async function upstreamErasures(
  transaction: MediaTransaction,
  registry: Registry,
  taskId: string,
): Promise<readonly NewJob[]> {
  const attempts = await readAttempts(transaction, [taskId]);
  const begun = attempts.filter(({ handle }) => handle !== null);
  if (begun.length === 0) return [];
  const steps = await readSteps(transaction, taskId);
  return begun.flatMap(({ step, handle, binding, bindingName, provider, upstream }) => {
    const kind = steps.find((one) => one.step === step)?.input.kind;
    if (kind === undefined || handle === null) return [];
    const attempt: ErasedAttempt = { kind, handle, binding, bindingName, provider, upstream };
    const job = registry.ofAttempt(attempt)?.provider.jobs?.[requestKind(kind)];
    return job?.erase === undefined ? [] : [{ queue: ERASE_QUEUE, data: asJson(attempt) }];
  });
}

/** Most milliseconds of the request of one job. */
const TIMEOUT_MS = 60_000;

/** Deletes at the provider what it keeps; done as well when the provider, or its machine, is no longer configured here or knows nothing of it. */
export function createErasureHandler(registry: Registry): JobHandler {
  return async ({ data, signal: stopped }) => {
    const attempt = data as unknown as ErasedAttempt;
    const binding = registry.ofAttempt(attempt);
    const job = binding?.provider.jobs?.[requestKind(attempt.kind)];
    if (binding === null || job?.erase === undefined) return;
    const signal = AbortSignal.any([stopped, AbortSignal.timeout(TIMEOUT_MS)]);
    await job.erase(attempt.handle, { connection: binding.connection, signal }).catch((error: unknown) => {
      if (!(error instanceof UpstreamError && error.code === 'LOST')) throw error;
    });
  };
}
