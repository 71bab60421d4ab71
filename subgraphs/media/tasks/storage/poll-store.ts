import { sql } from 'kysely';

import { attemptColumns } from '../../database/columns.ts';
import type { AttemptRow, MediaDatabase, MediaTransaction } from '../../database/database.ts';
import { jsonEntries } from '../../database/expressions.ts';
import type { AttemptKey } from '../../domain/attempt.ts';
import type { StepState, TaskState } from '../../domain/task.ts';
import type { StepInput, Work } from '../../domain/work/work.ts';
import { retryOnDeadlock } from './transactor.ts';

/** SQL of polling: which attempts are due, and when they are due again. */

/** A due attempt with what its poll needs to know of task and steps. */
export interface DueAttempt extends AttemptRow {
  readonly taskState: TaskState;
  /** Whose task it is. */
  readonly owner: string;
  readonly traceparent: string | null;
  readonly cancelRequested: boolean;
  readonly stepState: StepState;
  readonly stepInput: StepInput;
  readonly label: string;
  /** Stage and progress of the task's newest event, so that an equal report is not written. */
  readonly taskStage: string;
  readonly taskProgress: number;
  /** The recipe and its steps, for the weighted sum; null for a plain task. */
  readonly recipe: {
    readonly work: Work;
    readonly steps: readonly {
      readonly step: number;
      readonly input: StepInput;
      readonly progress: number;
    }[];
  } | null;
  /** Whether some process follows the upstream's stream of it. */
  readonly watched: boolean;
  /** Seconds since the upstream took the work. */
  readonly runningSeconds: number;
  /** Seconds since nobody wants it any more; only telling while that is so. */
  readonly cancellingSeconds: number;
  /** Whether its step has gone on without it: its start was answered after it had been given up. */
  readonly superseded: boolean;
}

/**
 * Leases attempts that are due. One update both claims and reschedules: when this process dies, its attempts are
 * simply due again after the lease, which is longer than a status call may take.
 */
export async function leaseDue(
  database: MediaDatabase,
  { leaseSeconds, limit }: { leaseSeconds: number; limit: number },
): Promise<readonly DueAttempt[]> {
  const { rows } = await sql<DueAttempt>`/* prepared: attempts.lease */
    with due as materialized (
      select task_id, step, number from media.attempts
      where state = 'RUNNING' and next_poll_at <= now()
      order by next_poll_at limit ${limit} for update skip locked
    ), leased as (
      update media.attempts attempt
      set next_poll_at = date_trunc('milliseconds', now() + make_interval(secs => ${leaseSeconds})) from due
      where attempt.task_id = due.task_id and attempt.step = due.step and attempt.number = due.number
      returning ${attemptColumns('attempt')}
    )
    select leased.*, task.state as task_state, task.owner, task.traceparent, task.cancel_requested_at is not null as cancel_requested,
      task.stage as task_stage, task.progress as task_progress,
      step.state as step_state, step.input as step_input, step.label,
      case when task.kind in ('RECIPE', 'AVATAR_VIDEO') then jsonb_build_object('work', task.input, 'steps', (
        select jsonb_agg(jsonb_build_object('step', each.step, 'input', each.input, 'progress', each.progress)
                         order by each.step)
        from media.task_steps each where each.task_id = task.id)) end as recipe,
      coalesce(leased.watched_until > now(), false) as watched,
      extract(epoch from now() - leased.running_at)::double precision as running_seconds,
      extract(epoch from now() - coalesce(task.cancel_requested_at, task.ended_at, leased.running_at))::double precision
        as cancelling_seconds,
      step.state <> 'RUNNING' or exists (
        select from media.attempts other where other.task_id = leased.task_id and other.step = leased.step
          and other.number > leased.number) as superseded
    from leased join media.tasks task on task.id = leased.task_id
      join media.task_steps step on step.task_id = leased.task_id and step.step = leased.step`.execute(
    database,
  );
  return rows;
}

/** When an attempt is polled again. */
export interface NextPoll {
  readonly taskId: string;
  readonly step: number;
  readonly number: number;
  /** Milliseconds from its answer. */
  readonly inMs: number;
  /** When that came, by performance.now(). */
  readonly answeredAt: number;
  /** Failed status calls in a row. */
  readonly failures: number;
  /** The end of the lease under which it was asked, as leaseDue wrote it. */
  readonly leasedUntil: Date | null;
}

/**
 * Writes back many next polls at once, locking in order of their keys, as every batch over attempts does. One whose time
 * was changed during its call keeps the new time: a provider webhook or a cancel request came, or another worker leases it.
 */
export async function scheduleNext(database: MediaDatabase, polls: readonly NextPoll[]): Promise<void> {
  if (polls.length === 0) return;
  await retryOnDeadlock(() =>
    sql`/* prepared: attempts.schedule-next */
      with ${jsonEntries(
        polls.map(({ answeredAt, inMs, ...poll }) => ({ ...poll, inMs: remainingMs(inMs, answeredAt) })),
        `"taskId" uuid, step integer, number integer, "inMs" integer, failures integer,
       "leasedUntil" timestamptz`,
      )}, held as materialized (
        select attempt.task_id, attempt.step, attempt.number, entry.failures, entry."inMs"
        from media.attempts attempt join entry
          on attempt.task_id = entry."taskId" and attempt.step = entry.step and attempt.number = entry.number
        where attempt.state = 'RUNNING' and attempt.next_poll_at = entry."leasedUntil"
        order by attempt.task_id, attempt.step, attempt.number for update of attempt
      )
      update media.attempts attempt set poll_failures = held.failures,
        next_poll_at = now() + make_interval(secs => held."inMs" / 1000.0)
      from held
      where attempt.task_id = held.task_id and attempt.step = held.step and attempt.number = held.number`.execute(
      database,
    ),
  );
}

/** What is left of a pause: answers wait a moment to be written together. */
function remainingMs(inMs: number, answeredAt: number): number {
  return Math.max(0, Math.round(inMs - (performance.now() - answeredAt)));
}

/** Makes one running attempt due now. False when it does not run. */
export async function pollAttemptNow(
  database: MediaDatabase,
  { taskId, step, number }: AttemptKey,
): Promise<boolean> {
  const { rows } = await sql`/* prepared: attempts.poll-one-now */
    update media.attempts set next_poll_at = least(next_poll_at, now())
    where task_id = ${taskId}::uuid and step = ${step} and number = ${number} and state = 'RUNNING'
    returning 1`.execute(database);
  return rows.length === 1;
}

/** Makes a task's running attempts due now, to be cancelled. */
export async function pollNow(database: MediaDatabase | MediaTransaction, taskId: string): Promise<void> {
  await sql`/* prepared: attempts.poll-now */
    update media.attempts set next_poll_at = now()
    where task_id = ${taskId}::uuid and state = 'RUNNING'`.execute(database);
}

/** Work that an upstream has finished, and how long that took. */
export interface EndedWork {
  readonly binding: string;
  readonly model: string | null;
  /** Seconds from the upstream's taking it to the end of the attempt. */
  readonly runningSeconds: number;
  /** Milliseconds since 1970. */
  readonly endedAt: number;
}

/** Most ends that are read. */
const MOST_ENDS = 2_000;

/** The work that has ended well in the last hour, the oldest first. */
export async function recentEnds(database: MediaDatabase): Promise<readonly EndedWork[]> {
  const { rows } = await sql<EndedWork>`/* attempts.recent-ends */
    select coalesce(binding_name, binding) as binding, model, extract(epoch from ended_at - running_at)::double precision as running_seconds,
      extract(epoch from ended_at)::double precision * 1000 as ended_at
    from media.attempts
    where ended_at > now() - interval '1 hour' and state = 'SUCCEEDED' and running_at is not null
    order by ended_at desc limit ${MOST_ENDS}`.execute(database);
  return rows.toReversed();
}

/** Whether other attempts, of tasks that nobody has cancelled, run as one with this one: by this member of their handles. */
export async function isShared(
  database: MediaDatabase,
  { taskId, bindingName, handle }: Pick<AttemptRow, 'taskId' | 'bindingName' | 'handle'>,
  member: string,
): Promise<boolean> {
  const { rows } = await sql`/* attempts.is-shared */
    select from media.attempts attempt join media.tasks task on task.id = attempt.task_id
    where attempt.binding_name = ${bindingName} and attempt.state = 'RUNNING'
      and attempt.handle->${member}::text = ${JSON.stringify(handle?.[member] ?? null)}::jsonb
      and task.id <> ${taskId}::uuid and task.cancel_requested_at is null and task.ended_at is null limit 1`.execute(
    database,
  );
  return rows.length > 0;
}
