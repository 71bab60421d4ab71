import { sql } from 'kysely';

import { databaseAway } from '../../../../platform/database-away.ts';
import { withAdvisoryLock } from '../../../../platform/database/advisory-lock.ts';
import { toError } from '../../../../platform/errors.ts';
import type { Logger } from '../../../../platform/process/logger.ts';
import type { MediaDatabase, MediaTransaction } from '../../database/database.ts';
import { removeFile, removeTask, type RemovalParts } from './remove.ts';

/**
 * Erasing an owner: tasks as soon as they have ended, files, chats, saved workflows, budgets and keys of idempotency; totals of usage stay
 * without them. It is asked for once, and goes on in every run of the pruner until nothing is left.
 */

/** Who stands in totals that stay. */
const NOBODY = 'deleted';
/** Owners of one run. */
const MOST_OWNERS = 20;

/** Notes that an owner is to be erased, and names the tasks of theirs that have not ended. */
export async function requestErasure(database: MediaDatabase, owner: string): Promise<readonly string[]> {
  await database
    .insertInto('media.erasures')
    .values({ owner })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const open = await database
    .selectFrom('media.tasks')
    .select('id')
    .where('owner', '=', owner)
    .where('endedAt', 'is', null)
    .execute();
  return open.map(({ id }) => id);
}

/** Erases of each owner at most so many tasks and files, one process at a time. One who can't be erased now does not keep the others. */
export async function eraseOwners(
  parts: RemovalParts & { readonly logger: Logger },
  limit: number,
): Promise<void> {
  const { database, logger } = parts;
  const owners = await database
    .selectFrom('media.erasures')
    .select('owner')
    .orderBy('requestedAt')
    .limit(MOST_OWNERS)
    .execute();
  if (owners.length === 0) return;
  await withAdvisoryLock(database, 'media.erasures', async () => {
    for (const { owner } of owners) {
      if (parts.stopping?.aborted) return;
      await eraseSome(parts, owner, limit).catch((error: unknown) => {
        if (databaseAway(error) !== undefined) throw error;
        logger.error({ error: toError(error), owner }, 'an owner could not be erased: it is tried again');
      });
    }
  });
}

async function eraseSome(parts: RemovalParts, owner: string, limit: number): Promise<void> {
  const { database } = parts;
  const tasks = database.selectFrom('media.tasks').select('id').where('owner', '=', owner);
  const ended = await tasks.where('endedAt', 'is not', null).limit(limit).execute();
  await removeEach(parts, ended, (id) => removeTask(parts, id));
  if (parts.stopping?.aborted) return;
  // What running work still reads is left until it has ended.
  const open = await tasks.where('endedAt', 'is', null).limit(1).execute();
  if (open.length > 0) return;
  const files = await database
    .selectFrom('media.media')
    .select('id')
    .where('owner', '=', owner)
    .where('state', '<>', 'DELETED')
    .limit(limit)
    .execute();
  await removeEach(parts, files, (id) => removeFile(parts, id));
  if (ended.length + files.length > 0) return;
  await database.transaction().execute((transaction) => eraseRest(transaction, owner));
}

/** Removes each, unless the process stops. One that can't be removed does not keep the others: its error is thrown after them. */
async function removeEach(
  { stopping }: Pick<RemovalParts, 'stopping'>,
  rows: readonly { readonly id: string }[],
  remove: (id: string) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  for (const { id } of rows) {
    if (stopping?.aborted) return;
    await remove(id).catch((error: unknown) => {
      if (databaseAway(error) !== undefined) throw error;
      failures.push(error);
    });
  }
  if (failures.length > 0) throw failures[0];
}

async function eraseRest(transaction: MediaTransaction, owner: string): Promise<void> {
  await sql`/* erase.usage */ with moved as (delete from media.usage where owner = ${owner} returning *)
    insert into media.usage select (jsonb_populate_record(null::media.usage, to_jsonb(moved) || ${JSON.stringify({ owner: NOBODY })}::jsonb)).* from moved
    on conflict (day, owner, generator, provider, model, sandbox, currency, shard) do update set
      tasks_succeeded = media.usage.tasks_succeeded + excluded.tasks_succeeded,
      tasks_failed = media.usage.tasks_failed + excluded.tasks_failed,
      tasks_cancelled = media.usage.tasks_cancelled + excluded.tasks_cancelled,
      attempts_succeeded = media.usage.attempts_succeeded + excluded.attempts_succeeded,
      attempts_failed = media.usage.attempts_failed + excluded.attempts_failed,
      chats = media.usage.chats + excluded.chats,
      pictures = media.usage.pictures + excluded.pictures,
      milliseconds = media.usage.milliseconds + excluded.milliseconds,
      characters = media.usage.characters + excluded.characters,
      input_tokens = media.usage.input_tokens + excluded.input_tokens,
      cached_tokens = media.usage.cached_tokens + excluded.cached_tokens,
      output_tokens = media.usage.output_tokens + excluded.output_tokens,
      runs = media.usage.runs + excluded.runs,
      gpu_milliseconds = media.usage.gpu_milliseconds + excluded.gpu_milliseconds,
      unpriced = media.usage.unpriced + excluded.unpriced,
      cost = media.usage.cost + excluded.cost`.execute(transaction);
  await transaction
    .updateTable('media.chatCosts')
    .set({ owner: NOBODY })
    .where('owner', '=', owner)
    .execute();
  for (const table of [
    'media.chatReplies',
    'media.idempotency',
    'media.conversations',
    'media.shares',
    'media.boards',
    'media.bulkOperations',
    'media.stars',
    'media.providerResources',
    'media.workflows',
  ] as const)
    await transaction.deleteFrom(table).where('owner', '=', owner).execute();
  await transaction.deleteFrom('media.uploadReservations').where('account', '=', owner).execute();
  await transaction
    .deleteFrom('media.budgets')
    .where('scope', '=', 'USER')
    .where('subject', '=', owner)
    .execute();
  await transaction.deleteFrom('media.erasures').where('owner', '=', owner).execute();
}
