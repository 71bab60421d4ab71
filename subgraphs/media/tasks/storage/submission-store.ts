import { type RawBuilder, sql } from 'kysely';

import type { IdempotencyRecord } from '../../../../platform/access/idempotency.ts';
import { jsonText } from '../../../../platform/json.ts';
import type { EnqueueStatement } from '../../../../platform/queue/queue.ts';
import { taskColumns } from '../../database/columns.ts';
import type { MediaDatabase, MediaTransaction, TaskRow } from '../../database/database.ts';
import type { TaskKind } from '../../domain/task.ts';
import type { Stage } from '../../domain/words/stages.ts';
import type { StepInput, Work } from '../../domain/work/work.ts';

/** SQL of accepting work: as few statements as possible, because every submission waits for them. */

/** The stage of every task that was just accepted. */
const FIRST_STAGE: Stage = 'queued';

/** A task as it is written. */
export interface NewTask {
  readonly id: string;
  readonly owner: string;
  readonly kind: TaskKind;
  readonly generator: string;
  readonly taskType: string | null;
  readonly input: Work;
  readonly onEnd: string | null;
  /** Checked address of the result webhook. */
  readonly callbackUrl?: string | null;
  readonly steps: readonly NewStep[];
  readonly idempotency: (IdempotencyRecord & { readonly replaces: string | null }) | null;
  /** For a caller without a credential. */
  readonly manageTokenHash?: string | null;
  /** The trace that the submission belongs to. */
  readonly traceparent?: string | null;
  /** Whether it is what somebody has bought (default: no). */
  readonly sold?: boolean;
}

/** A step as it is written, before its first attempt. */
export interface NewStep {
  readonly step: number;
  readonly label: string;
  readonly input: StepInput;
  readonly binding: string;
}

/**
 * Task, steps, first event and idempotency record in one statement. Null when the key (or the id, for a task whose id
 * was chosen by its requester) is taken, unless by the task that it `replaces`: nothing was written then. A concurrent holder of the key is waited for. With
 * `enqueueing` the jobs are of the same statement, which then needs no transaction around it.
 */
export async function insertTask(
  database: MediaDatabase | MediaTransaction,
  task: NewTask,
  enqueueing: EnqueueStatement | null = null,
): Promise<TaskRow | null> {
  const guard = task.idempotency;
  const guardRow =
    guard === null
      ? sql`select 1`
      : sql`insert into media.idempotency (owner, key, fingerprint, task_id)
            values (${guard.owner}, ${guard.key}, ${guard.fingerprint}, ${task.id}::uuid)
            on conflict (owner, key) do update
              set fingerprint = excluded.fingerprint, task_id = excluded.task_id, created_at = now()
              where media.idempotency.task_id = ${guard.replaces}::uuid
            returning 1`;
  const { rows } = await sql<TaskRow>`/* prepared: tasks.insert */
    with guard as (${guardRow}), task as (
      insert into media.tasks (id, owner, kind, generator, task_type, input, stage, last_seq, on_end, callback_url,
                               manage_token_hash, traceparent, sold)
      select ${task.id}::uuid, ${task.owner}, ${task.kind}, ${task.generator}, ${task.taskType},
             ${jsonText(task.input)}::jsonb, ${FIRST_STAGE}::text, 1, ${task.onEnd},
             ${task.callbackUrl ?? null}::text, ${task.manageTokenHash ?? null}::text, ${task.traceparent ?? null}::text,
             ${task.sold ?? false}::boolean from guard
      on conflict (id) do nothing returning *
    ), steps as (
      insert into media.task_steps (task_id, step, label, input, binding)
      select task.id, step.step, step.label, step.input, step.binding from task,
        jsonb_to_recordset(${jsonText(task.steps)}::jsonb)
          as step(step integer, label text, input jsonb, binding text)
    ), event as (
      insert into media.task_events (task_id, seq, state, stage, progress, progress_estimated, at)
      select id, 1, state, stage, 0, false, created_at from task
    )${enqueueing === null ? sql`` : jobsWithTask(enqueueing)}
    select ${taskColumns} from task`.execute(database);
  return rows[0] ?? null;
}

/** Enqueues nothing where no task is written. */
function jobsWithTask({ text, jobs }: EnqueueStatement): RawBuilder<unknown> {
  const [before = '', after = ''] = text.split('$1');
  const list = sql`(case when exists (select from task) then ${jobs}::text else '[]' end)`;
  return sql`, jobs as (${sql.raw(before)}${list}${sql.raw(after)})`;
}

/** The record of a key, or null. */
export async function findIdempotency(
  database: MediaDatabase,
  owner: string,
  key: string,
): Promise<{ readonly fingerprint: string; readonly taskId: string } | null> {
  const row = await database
    .selectFrom('media.idempotency')
    .select(['fingerprint', 'taskId'])
    .where('owner', '=', owner)
    .where('key', '=', key)
    .executeTakeFirst();
  return row ?? null;
}
