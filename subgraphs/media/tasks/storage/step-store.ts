import { sql } from 'kysely';

import { jsonText } from '../../../../platform/json.ts';
import type { FinishedWork } from '../../database/column-types.ts';
import { stepColumns } from '../../database/columns.ts';
import type { MediaDatabase, MediaTransaction, StepRow } from '../../database/database.ts';
import { jsonEntries } from '../../database/expressions.ts';
import type { StepState, TaskOutcome } from '../../domain/task.ts';
import type { NewStep } from './submission-store.ts';
import { retryOnDeadlock } from './transactor.ts';

/** SQL of task steps. Changing one requires the lock on its task (task-store.ts). */

type Executor = MediaDatabase | MediaTransaction;

/** Every step of these tasks, in order. */
export async function readStepsByTask(
  database: Executor,
  taskIds: readonly string[],
): Promise<readonly StepRow[]> {
  const { rows } = await sql<StepRow>`/* prepared: steps.read */
    select ${stepColumns} from media.task_steps where task_id = any(${taskIds}::uuid[]) order by task_id, step`.execute(
    database,
  );
  return rows;
}

/** Every step of a task, in order. */
export function readSteps(database: Executor, taskId: string): Promise<readonly StepRow[]> {
  return readStepsByTask(database, [taskId]);
}

/** Adds the next steps of a recipe. */
export async function insertSteps(
  transaction: MediaTransaction,
  taskId: string,
  steps: readonly NewStep[],
): Promise<void> {
  await sql`/* prepared: steps.insert */
    insert into media.task_steps (task_id, step, label, input, binding)
    select ${taskId}::uuid, step, label, input, binding
    from jsonb_to_recordset(${jsonText(steps)}::jsonb) as step(step integer, label text, input jsonb, binding text)
  `.execute(transaction);
}

/** What moving a step may change besides its state. */
interface StepChange {
  readonly state: StepState;
  readonly binding?: string;
  readonly finished?: FinishedWork | null;
  readonly outcome?: TaskOutcome;
}

/** A step and what becomes of it. */
export interface MovedStep extends StepChange {
  readonly taskId: string;
  readonly step: number;
}

/** Moves steps of different tasks; whatever a change leaves out stays. Final states get their end time. */
export async function moveSteps(transaction: MediaTransaction, steps: readonly MovedStep[]): Promise<void> {
  if (steps.length === 0) return;
  const entries = steps.map((step) => ({ ...step, isFinished: step.finished !== undefined }));
  await sql`/* prepared: steps.move */
    with ${jsonEntries(
      entries,
      `"taskId" uuid, step integer, state text, binding text, finished jsonb,
       "isFinished" boolean, outcome jsonb`,
    )}, held as materialized (
      select step.task_id, step.step from media.task_steps step
        join entry on step.task_id = entry."taskId" and step.step = entry.step
      order by step.task_id, step.step for update of step
    )
    update media.task_steps step set
      state = entry.state,
      binding = coalesce(entry.binding, step.binding),
      finished = case when entry."isFinished" then coalesce(entry.finished, 'null'::jsonb) else step.finished end,
      outcome = coalesce(entry.outcome, step.outcome),
      progress = case when entry.state = 'SUCCEEDED' then 100 else step.progress end,
      waiting_since = case when entry.state in ('QUEUED', 'STORING') then now() else step.waiting_since end,
      started_at = case when entry.state = 'RUNNING' then coalesce(step.started_at, now()) else step.started_at end,
      ended_at = case when entry.state in ('SUCCEEDED', 'FAILED', 'CANCELLED') then now() end
    from held join entry on held.task_id = entry."taskId" and held.step = entry.step
    where step.task_id = held.task_id and step.step = held.step`.execute(transaction);
}

/** Moves one step. */
export function moveStep(transaction: MediaTransaction, step: MovedStep): Promise<void> {
  return moveSteps(transaction, [step]);
}

/** Remembers when a step that waits was to be started first: the time of its tries counts from there. */
export async function noteFirstTry(
  transaction: MediaTransaction,
  { taskId, step }: { readonly taskId: string; readonly step: number },
): Promise<void> {
  await sql`/* prepared: steps.note-first-try */
    update media.task_steps set started_at = now()
    where task_id = ${taskId}::uuid and step = ${step} and started_at is null`.execute(transaction);
}

/** Ends every open step of a task that ends; `failed` is the one that failed. */
export async function closeSteps(
  transaction: MediaTransaction,
  taskId: string,
  failed: number | null,
): Promise<void> {
  await sql`/* prepared: steps.close */
    update media.task_steps set state = case when step = ${failed} then 'FAILED' else 'CANCELLED' end, ended_at = now()
    where task_id = ${taskId}::uuid and state in ('QUEUED', 'RUNNING', 'STORING')`.execute(transaction);
}

/** The steps' own progress, locked in order of their keys; it only matters where a task has several. */
export async function raiseStepProgress(
  database: MediaDatabase,
  steps: readonly { readonly taskId: string; readonly step: number; readonly progress: number }[],
): Promise<void> {
  if (steps.length === 0) return;
  await retryOnDeadlock(() =>
    sql`/* prepared: steps.progress */
      with ${jsonEntries(steps, `"taskId" uuid, step integer, progress integer`)}, held as materialized (
        select step.task_id, step.step, entry.progress
        from media.task_steps step join entry
          on step.task_id = entry."taskId" and step.step = entry.step
        where step.state = 'RUNNING' order by step.task_id, step.step for update of step
      )
      update media.task_steps step set progress = greatest(step.progress, held.progress)
      from held where step.task_id = held.task_id and step.step = held.step`.execute(database),
  );
}

/** Remembers a stored file by its position, so that a retry does not fetch it again. */
export async function rememberStored(
  database: Executor,
  { taskId, step, position, mediaId }: { taskId: string; step: number; position: number; mediaId: string },
): Promise<void> {
  await sql`/* prepared: steps.remember-stored */
    update media.task_steps set stored = stored || jsonb_build_object(${String(position)}::text, ${mediaId}::text)
    where task_id = ${taskId}::uuid and step = ${step}`.execute(database);
}

/** Counts one more try to store; forgets the finished addresses when they are stale. Answers the number of tries. */
export async function countStoreTry(
  database: Executor,
  { taskId, step, stale }: { taskId: string; step: number; stale: boolean },
): Promise<number> {
  const { rows } = await sql<{ storeTries: number }>`/* prepared: steps.count-store-try */
    update media.task_steps set store_tries = store_tries + 1,
      finished = case when ${stale} then null else finished end
    where task_id = ${taskId}::uuid and step = ${step} returning store_tries`.execute(database);
  return rows[0]?.storeTries ?? 0;
}

/**
 * The tasks queued at each binding in the order in which they are to be started: their owners in turn, the work of one in the
 * order of its ids (which is that of time).
 */
export async function readQueues(
  database: MediaDatabase,
  limit: number,
): Promise<readonly { readonly binding: string; readonly taskIds: readonly string[] }[]> {
  const { rows } = await sql<{ binding: string; taskIds: string[] }>`/* steps.queues */
    select binding, array_agg(task_id::text order by turn, task_id) as task_ids from (
      select step.binding, step.task_id,
        row_number() over (partition by step.binding, task.owner order by step.task_id) as turn
      from media.task_steps step join media.tasks task on task.id = step.task_id
      where step.state = 'QUEUED' order by turn, step.task_id limit ${limit}
    ) waiting group by binding`.execute(database);
  return rows;
}

/** How many steps are queued at each binding. */
export async function countQueued(
  database: MediaDatabase,
): Promise<readonly { readonly binding: string; readonly waiting: number }[]> {
  const { rows } = await sql<{ binding: string; waiting: number }>`/* steps.count-queued */
    select binding, count(*)::integer as waiting from media.task_steps where state = 'QUEUED' group by binding`.execute(
    database,
  );
  return rows;
}
