import { sql, type Selectable } from 'kysely';

import { batchReads, readDistinct } from '../../../platform/database/batched-reads.ts';
import type { WorkflowDatabase, WorkflowTransaction } from '../database/database.ts';
import type { WorkflowExecution } from '../database/tables.ts';
import type { ExecutionError, ExecutionStatus } from '../domain/execution.ts';
import { countRows, listRows, rowsBefore, type ListedPage, type ListedRows } from '../lists/listed-rows.ts';

/** A row of executions. `start` is the input for media's startTask, as it was at submission. */
export type StoredExecution = Readonly<Selectable<WorkflowExecution>>;

interface StatusChange {
  readonly status: ExecutionStatus;
  readonly stage: string;
  readonly progress: number;
  readonly error: ExecutionError | null;
  /** Whether media had its task: the end can arrive before the start was recorded. */
  readonly wasStarted: boolean;
}

/** Runs in the transaction that ends an execution. */
export type EndHook = (transaction: WorkflowTransaction, ended: StoredExecution) => Promise<void>;

/** The SQL of executions; no rules here. */
export interface ExecutionStore {
  /** Reads that come together are one statement: a crowd may follow. */
  byIds(ids: readonly string[]): Promise<StoredExecution[]>;
  byTaskIds(taskIds: readonly string[]): Promise<StoredExecution[]>;
  byExternalId(owner: string, externalId: string): Promise<StoredExecution | null>;
  /** Newest first, one more than `first` when there are more. */
  list(page: ListedPage): Promise<StoredExecution[]>;
  /** How many there are on all pages. */
  count(rows: ListedRows): Promise<number>;
  /** PENDING -> RUNNING; null when it is not PENDING any more. */
  markStarted(id: string): Promise<StoredExecution | null>;
  /** To an ended status, only from an open one; null when it has ended already. */
  markEnded(id: string, change: StatusChange, also?: EndHook): Promise<StoredExecution | null>;
  /** Executions of this status that are older than this, oldest first. */
  openSince(status: 'PENDING' | 'RUNNING', before: Date): AsyncIterable<StoredExecution>;
}

/** A store over the workflow schema's executions. */
export function createExecutionStore(database: WorkflowDatabase): ExecutionStore {
  const all = () => database.selectFrom('workflow.executions').selectAll();
  const readShared = batchReads({
    read: (ids) => all().where('id', 'in', ids).execute(),
    readId: ({ id }) => id,
  });
  return {
    byIds: (ids) => readDistinct(readShared, ids),
    byTaskIds: (taskIds) => all().where('taskId', 'in', taskIds).execute(),
    async byExternalId(owner, externalId) {
      const named = all().where('owner', '=', owner).where('externalId', '=', externalId);
      return (await named.executeTakeFirst()) ?? null;
    },
    list: (page) => listRows(database, 'workflow.executions', page),
    count: (rows) => countRows(database, 'workflow.executions', rows),
    openSince: (status, before) => rowsBefore(database, 'workflow.executions', { status, before }),
    markStarted: (id) => markStarted(database, id),
    markEnded: (id, change, also) =>
      database.transaction().execute(async (transaction) => {
        const ended = await markEnded(transaction, id, change);
        if (ended !== null) await also?.(transaction, ended);
        return ended;
      }),
  };
}

async function markStarted(database: WorkflowDatabase, id: string): Promise<StoredExecution | null> {
  const row = await database
    .updateTable('workflow.executions')
    .set({ status: 'RUNNING', stage: 'queued', startedAt: new Date(), version: sql`version + 1` })
    .where('id', '=', id)
    .where('status', '=', 'PENDING')
    .returningAll()
    .executeTakeFirst();
  return row ?? null;
}

async function markEnded(
  transaction: WorkflowTransaction,
  id: string,
  { status, stage, progress, error, wasStarted: taken }: StatusChange,
): Promise<StoredExecution | null> {
  const row = await transaction
    .updateTable('workflow.executions')
    .set({
      status,
      stage,
      progress,
      error: error === null ? null : JSON.stringify(error),
      endedAt: new Date(),
      ...(taken ? { startedAt: sql<Date>`coalesce(started_at, now())` } : {}),
      version: sql`version + 1`,
    })
    .where('id', '=', id)
    .where('status', 'in', ['PENDING', 'RUNNING'])
    .returningAll()
    .executeTakeFirst();
  return row ?? null;
}
