import { sql } from 'kysely';

import { taskColumns } from '../../database/columns.ts';
import type { MediaDatabase, MediaTransaction, TaskRow } from '../../database/database.ts';
import { containsText, takesFile, usesModel } from '../../database/task-conditions.ts';
import { isFinal, type TaskFilter } from '../../domain/task.ts';

/** SQL of task rows: reading, locking, listing. Accepting one is in submission-store.ts, events in event-store.ts. */

/** The rows there are, in no order. */
export async function readTasks(
  database: MediaDatabase | MediaTransaction,
  ids: readonly string[],
): Promise<readonly TaskRow[]> {
  const { rows } = await sql<TaskRow>`/* prepared: tasks.read */
    select ${taskColumns} from media.tasks where id = any(${ids}::uuid[])`.execute(database);
  return rows;
}

/**
 * Locks the rows of tasks, in order of their ids, until the transaction ends; those that there are. Changes of steps and
 * attempts take this lock first, so that the steps of one task end one after the other and transactions do not deadlock.
 */
export async function lockTasks(
  transaction: MediaTransaction,
  ids: readonly string[],
): Promise<readonly TaskRow[]> {
  const { rows } = await sql<TaskRow>`/* prepared: tasks.lock */
    select ${taskColumns} from media.tasks where id = any(${ids}::uuid[]) order by id for update`.execute(
    transaction,
  );
  return rows;
}

/** The same for one task; null when there is none. */
export async function lockTask(transaction: MediaTransaction, id: string): Promise<TaskRow | null> {
  const [task] = await lockTasks(transaction, [id]);
  return task ?? null;
}

/** As lockTask, but null also when the task has ended. */
export async function lockOpenTask(transaction: MediaTransaction, id: string): Promise<TaskRow | null> {
  const task = await lockTask(transaction, id);
  return task === null || isFinal(task.state) ? null : task;
}

/** Which tasks are listed. */
export interface ListedTasks {
  /** Null means everybody's. */
  readonly owner: string | null;
  readonly filter: TaskFilter;
}

/** One page of tasks, newest first (ids are ordered by time). */
export async function listTasks(
  database: MediaDatabase,
  { first, after, ...listed }: ListedTasks & { readonly first: number; readonly after: string | null },
): Promise<readonly TaskRow[]> {
  const query = listedTasks(database, listed).selectAll().orderBy('id', 'desc').limit(first);
  return (after === null ? query : query.where('id', '<', after)).execute();
}

/** How many tasks a list has on all pages. */
export async function countTasks(database: MediaDatabase, listed: ListedTasks): Promise<number> {
  const { total } = await listedTasks(database, listed)
    .select(sql<number>`count(*)::int`.as('total'))
    .executeTakeFirstOrThrow();
  return total;
}

function listedTasks(database: MediaDatabase, { owner, filter }: ListedTasks) {
  const { states, kinds, generator, model, text, file, createdAfter, createdBefore } = filter;
  let query = database.selectFrom('media.tasks');
  if (owner !== null) query = query.where('owner', '=', owner);
  if (filter.owner !== undefined) query = query.where('owner', '=', filter.owner);
  if (states !== undefined) query = query.where('state', 'in', states);
  if (kinds !== undefined) query = query.where('kind', 'in', kinds);
  if (generator !== undefined) query = query.where('generator', '=', generator);
  if (model !== undefined) query = query.where(usesModel(model));
  if (text !== undefined) query = query.where(containsText(text));
  if (file !== undefined) query = query.where(takesFile(file));
  if (createdAfter !== undefined) query = query.where('createdAt', '>', createdAfter);
  if (createdBefore !== undefined) query = query.where('createdAt', '<', createdBefore);
  return query;
}
