import { sql } from 'kysely';

import { taskColumns } from '../../database/columns.ts';
import type { MediaDatabase, TaskRow } from '../../database/database.ts';
import type { TaskFilter, TaskState } from '../../domain/task.ts';
import { countTasks, isListed, type ListedTasks } from '../storage/task-store.ts';
import type { BulkAction, BulkOperation } from './bulk.ts';

/** SQL of operations on many tasks. */

/** An operation as it is stored. */
export interface BulkRow extends BulkOperation {
  /** Whose tasks; null for everybody's. */
  readonly listedOwner: string | null;
  /** As JSON has it: its times are texts. */
  readonly filter: TaskFilter;
  /** The last task that it has processed; null before the first. */
  readonly lastTaskId: string | null;
  readonly traceId: string;
}

/** States that each action is for. */
const STATES: Readonly<Record<BulkAction, readonly TaskState[]>> = {
  CANCEL: ['QUEUED', 'RUNNING'],
  RESTART: ['SUCCEEDED', 'FAILED', 'CANCELLED'],
};

/** The tasks of an operation: what the filter lets in, in a state that the action is for. */
function matching({
  action,
  listedOwner,
  filter,
}: Pick<BulkRow, 'action' | 'listedOwner' | 'filter'>): ListedTasks {
  const states = STATES[action].filter((state) => filter.states?.includes(state) ?? true);
  return { owner: listedOwner, filter: { ...filter, states } };
}

// What an execution has started is the execution's to start again.
const isFor = ({ action }: Pick<BulkRow, 'action'>) =>
  action === 'CANCEL' ? sql<boolean>`true` : sql<boolean>`on_end is null`;

/** How many tasks an operation would have. */
export function countMatching(
  database: MediaDatabase,
  operation: Pick<BulkRow, 'action' | 'listedOwner' | 'filter'>,
): Promise<number> {
  return countTasks(database, matching(operation), isFor(operation));
}

/** The next tasks of an operation, oldest first; none that were accepted after it began. */
export async function nextTasks(
  database: MediaDatabase,
  operation: BulkRow,
  limit: number,
): Promise<readonly TaskRow[]> {
  const { id, lastTaskId } = operation;
  const later = lastTaskId === null ? sql`true` : sql`id > ${lastTaskId}::uuid`;
  const { rows } = await sql<TaskRow>`/* bulk.next */ select ${taskColumns} from media.tasks
    where ${isListed(matching(operation))} and ${isFor(operation)} and ${later} and id < ${id}::uuid
    order by id limit ${sql.lit(limit)}`.execute(database);
  return rows;
}

/** One operation; null when there is none. */
export async function readOperation(database: MediaDatabase, id: string): Promise<BulkRow | null> {
  const row = await database
    .selectFrom('media.bulkOperations')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst();
  return row === undefined ? null : (row as unknown as BulkRow);
}

/** Notes what became of one task; false when it was noted already or the operation has ended. */
export async function noteTask(
  database: MediaDatabase,
  { id, lastTaskId }: BulkRow,
  { taskId, problem }: { readonly taskId: string; readonly problem: string | null },
): Promise<boolean> {
  const refused = problem === null ? 0 : 1;
  const { numAffectedRows } = await sql`/* bulk.note */ update media.bulk_operations
    set done = done + ${1 - refused}, refused = refused + ${refused}, problem = coalesce(problem, ${problem}),
      last_task_id = ${taskId}::uuid
    where id = ${id}::uuid and state = 'RUNNING' and last_task_id is not distinct from ${lastTaskId}::uuid`.execute(
    database,
  );
  return numAffectedRows === 1n;
}

/** Ends an operation that runs. */
export async function endOperation(
  database: MediaDatabase,
  id: string,
  state: 'DONE' | 'STOPPED',
): Promise<void> {
  await database
    .updateTable('media.bulkOperations')
    .set({ state, endedAt: new Date() })
    .where('id', '=', id)
    .where('state', '=', 'RUNNING')
    .execute();
}

/** Removes those that ended more than so many days ago, at most so many; answers how many. */
export async function removeOldOperations(
  database: MediaDatabase,
  { days, limit }: { readonly days: number; readonly limit: number },
): Promise<number> {
  const { numAffectedRows } = await sql`/* bulk.prune */
    delete from media.bulk_operations where id = any(array(
      select id from media.bulk_operations where ended_at < now() - make_interval(days => ${days})
      order by id limit ${limit}))`.execute(database);
  return Number(numAffectedRows ?? 0);
}
