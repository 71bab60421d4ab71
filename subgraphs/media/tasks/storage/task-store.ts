import { type RawBuilder, sql } from 'kysely';

import { MOST_COUNTED } from '../../../../platform/paging.ts';
import { asMembers, taskColumns, taskNames } from '../../database/columns.ts';
import type { MediaDatabase, MediaTransaction, TaskRow } from '../../database/database.ts';
import { containsText, takesFile, usesModel } from '../../database/expressions.ts';
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

/** Locks open tasks whose stage ends with these words, and of which a step is queued at one of these bindings; in order of their ids. */
export async function lockQueuedTasks(
  transaction: MediaTransaction,
  {
    stage,
    bindings,
    limit,
  }: { readonly stage: string; readonly bindings: readonly string[]; readonly limit: number },
): Promise<readonly Pick<TaskRow, 'id' | 'stage'>[]> {
  const { rows } = await sql<Pick<TaskRow, 'id' | 'stage'>>`/* tasks.lock-queued */
    select id, stage from media.tasks task
    where state in ('QUEUED', 'RUNNING') and stage like ${`%${stage}`} and exists (
      select from media.task_steps step
      where step.task_id = task.id and step.state = 'QUEUED' and step.binding = any(${bindings}::text[]))
    order by id limit ${sql.lit(limit)} for update`.execute(transaction);
  return rows;
}

/** Which tasks are listed. */
export interface ListedTasks {
  /** Null means everybody's. */
  readonly owner: string | null;
  readonly filter: TaskFilter;
}

/** A page of a list. */
interface TaskRows extends ListedTasks {
  readonly first: number;
  readonly after: string | null;
  /** The columns that are read; all when absent. */
  readonly columns?: readonly (keyof TaskRow)[];
}

/** One page of tasks, newest first (ids are ordered by time). */
export async function listTasks(
  database: MediaDatabase,
  { first, after, columns = taskNames, ...listed }: TaskRows,
): Promise<readonly TaskRow[]> {
  const before = after === null ? sql`true` : sql`id < ${after}`;
  // What a filter's best plan is depends on its values.
  const mark = Object.keys(listed.filter).length === 0 ? '/* prepared: tasks.list */' : '';
  const { rows } = await sql<TaskRow>`${sql.raw(mark)}
    select ${sql.raw(asMembers(columns))} from media.tasks where ${isListed(listed)} and ${before}
    order by id desc limit ${sql.lit(first)}`.execute(database.withoutPlugins());
  return rows;
}

/** How many tasks a list has on all pages, at most one more than are counted; with a condition, of those that fulfil it. */
export async function countTasks(
  database: MediaDatabase,
  listed: ListedTasks,
  alone: RawBuilder<boolean> = sql`true`,
): Promise<number> {
  const { rows } = await sql<{ total: number }>`/* tasks.count */
    select count(*)::int as total from (select from media.tasks where ${isListed(listed)} and ${alone}
      order by id desc limit ${sql.lit(MOST_COUNTED + 1)}) as counted`.execute(database);
  return rows[0]?.total ?? 0;
}

/** The condition that the tasks of a list fulfil. */
export function isListed({ owner, filter }: ListedTasks): RawBuilder<unknown> {
  const { states, kinds, generator, model, text, file, createdAfter, createdBefore } = filter;
  const conditions: RawBuilder<unknown>[] = [sql`true`];
  if (owner !== null) conditions.push(sql`owner = ${owner}`);
  if (filter.owner !== undefined) conditions.push(sql`owner = ${filter.owner}`);
  if (states !== undefined) conditions.push(sql`state = any(${[...states]}::text[])`);
  if (kinds !== undefined) conditions.push(sql`kind = any(${[...kinds]}::text[])`);
  if (generator !== undefined) conditions.push(sql`generator = ${generator}`);
  if (model !== undefined) conditions.push(usesModel(model));
  if (text !== undefined) conditions.push(containsText(text));
  if (file !== undefined) conditions.push(takesFile(file));
  if (createdAfter !== undefined) conditions.push(sql`created_at > ${createdAfter}`);
  if (createdBefore !== undefined) conditions.push(sql`created_at < ${createdBefore}`);
  return sql.join(conditions, sql` and `);
}
