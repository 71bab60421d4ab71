import { sql } from 'kysely';

import type { MediaDatabase, MediaTransaction, TaskRow } from '../../database/database.ts';
import { jsonEntries } from '../../database/expressions.ts';
import type { Failure } from '../../domain/failure.ts';
import type { TaskEvent, TaskOutcome, TaskState } from '../../domain/task.ts';
import type { Stage } from '../../domain/words/stages.ts';

/** SQL of the event log. Every change of a task's state, stage or progress goes through `appendEvents`. */

/** What an entry changes; whatever it leaves out stays as it is. */
export interface NewEvent {
  readonly taskId: string;
  readonly state?: TaskState;
  readonly stage?: Stage;
  /** 0 to 100. A lower number than the task's own changes nothing: progress never falls. */
  readonly progress?: number;
  readonly estimated?: boolean;
  readonly error?: Failure;
  readonly result?: TaskOutcome;
  /** Sets the cancel request, once. */
  readonly cancel?: boolean;
  /** The task has now run on the sandbox. */
  readonly sandbox?: boolean;
  /** Set by progress reports: dropped unless this step still runs without a cancel request. */
  readonly runningStep?: number;
}

/** What was appended: the task's new number, and what an ender needs to know. */
export interface AppendedEvent {
  readonly taskId: string;
  readonly seq: number;
  readonly state: TaskState;
  readonly onEnd: string | null;
}

interface AppendedRow {
  readonly id: string;
  readonly lastSeq: number;
  readonly state: TaskState;
  readonly onEnd: string | null;
}

/**
 * The one statement that numbers events. It only touches open tasks, so nothing follows an end event; the number is
 * taken and the entry inserted in one statement, so there is no gap; rows are locked in order of id, so that two
 * batches never deadlock. An entry that changes nothing is not written. One entry per task and call.
 */
export async function appendEvents(
  database: MediaDatabase | MediaTransaction,
  events: readonly NewEvent[],
): Promise<readonly AppendedEvent[]> {
  if (events.length === 0) return [];
  const { rows } = await sql<AppendedRow>`/* prepared: tasks.append-events */
    with ${jsonEntries(
      events,
      `"taskId" uuid, state text, stage text, progress integer, estimated boolean, error jsonb,
       result jsonb, cancel boolean, sandbox boolean, "runningStep" integer`,
    )}, held as materialized (
      select task.id from media.tasks task
      where task.id in (select "taskId" from entry) and task.state in ('QUEUED', 'RUNNING')
      order by task.id for update
    ), moved as (
      update media.tasks task set
        last_seq = task.last_seq + 1,
        state = coalesce(entry.state, task.state),
        stage = coalesce(entry.stage, task.stage),
        progress = greatest(task.progress, least(coalesce(entry.progress, 0), 100)),
        progress_estimated = coalesce(entry.estimated, task.progress_estimated),
        sandbox = task.sandbox or coalesce(entry.sandbox, false),
        error = coalesce(entry.error, task.error),
        result = coalesce(entry.result, task.result),
        cancel_requested_at = case when entry.cancel then coalesce(task.cancel_requested_at, now())
                                   else task.cancel_requested_at end,
        started_at = case when entry.state = 'RUNNING' then coalesce(task.started_at, now()) else task.started_at end,
        ended_at = case when entry.state in ('SUCCEEDED', 'FAILED', 'CANCELLED') then now() end
      from entry
      where task.id = entry."taskId" and task.id in (select id from held)
        and task.state in ('QUEUED', 'RUNNING')
        and (entry.state is distinct from task.state and entry.state is not null or coalesce(entry.cancel, false)
             or entry.stage is distinct from task.stage and entry.stage is not null
             or coalesce(entry.progress, 0) > task.progress)
        and (entry."runningStep" is null or task.cancel_requested_at is null and exists (
          select 1 from media.task_steps step
          where step.task_id = task.id and step.step = entry."runningStep" and step.state = 'RUNNING'))
      returning task.id, task.last_seq, task.state, task.stage, task.progress, task.progress_estimated, task.on_end
    ), written as (
      insert into media.task_events (task_id, seq, state, stage, progress, progress_estimated, at)
      select id, last_seq, state, stage, progress, progress_estimated, clock_timestamp() from moved
    )
    select id, last_seq, state, on_end from moved`.execute(database);
  return rows.map((row) => ({
    taskId: row.id,
    seq: row.lastSeq,
    state: row.state,
    onEnd: row.onEnd,
  }));
}

/** Locks open tasks, in the order in which `appendEvents` does, until the transaction ends. */
export async function lockOpenTasks(transaction: MediaTransaction, ids: readonly string[]): Promise<void> {
  await sql`/* prepared: tasks.lock-open */
    select id from media.tasks where id = any(${ids}::uuid[]) and state in ('QUEUED', 'RUNNING')
    order by id for update`.execute(transaction);
}

/** A reader's position in one task's log. */
export interface EventCursor {
  readonly taskId: string;
  readonly after: number;
}

/** The next entries of many logs in one query: at most `limit` above each cursor, oldest first. */
export async function readEvents(
  database: MediaDatabase,
  cursors: readonly EventCursor[],
  limit: number,
): Promise<readonly TaskEvent[]> {
  const { rows } = await sql<TaskEvent>`/* prepared: tasks.read-events */
    select event.* from unnest(${cursors.map(({ taskId }) => taskId)}::uuid[],
                               ${cursors.map(({ after }) => after)}::integer[]) as cursor (task_id, after)
    cross join lateral (
      select task_id, seq, state, stage, progress, progress_estimated, at from media.task_events
      where task_id = cursor.task_id and seq > cursor.after order by seq limit ${limit}
    ) event order by event.task_id, event.seq`.execute(database);
  return rows;
}

/** How far a task's log goes, and who may follow it. */
export type LogHead = Pick<TaskRow, 'id' | 'owner' | 'state' | 'lastSeq' | 'eventsPruned'>;

/** How far each task's log goes: what the slow tick compares with its subscribers' cursors. */
export async function readHeads(
  database: MediaDatabase,
  taskIds: readonly string[],
): Promise<readonly LogHead[]> {
  return database
    .selectFrom('media.tasks')
    .select(['id', 'owner', 'state', 'lastSeq', 'eventsPruned'])
    .where(sql<boolean>`id = any(${taskIds}::uuid[])`)
    .execute();
}
