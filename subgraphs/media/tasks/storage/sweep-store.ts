import { sql } from 'kysely';

import type { MediaDatabase, MediaTransaction } from '../../database/database.ts';
import type { StepState } from '../../domain/steps.ts';
import type { StepInput } from '../../domain/work/work.ts';

/** SQL of steps that only a job moves: those without an attempt that is claimed or running. */

/** A step that waits for its job. */
export interface WaitingStep {
  readonly taskId: string;
  readonly step: number;
  /** RUNNING is one whose attempt was opened and not claimed yet. */
  readonly state: Extract<StepState, 'QUEUED' | 'RUNNING' | 'STORING'>;
  readonly binding: string;
  readonly input: StepInput;
  readonly waitingSeconds: number;
}

/** Names a step. */
export type StepKey = Pick<WaitingStep, 'taskId' | 'step'>;

const WAITING = sql`
  select step.task_id, step.step, step.state, step.binding, step.input,
    extract(epoch from now() - step.waiting_since)::double precision as waiting_seconds
  from media.task_steps step
  where step.state in ('QUEUED', 'RUNNING', 'STORING') and not exists (
    select from media.attempts attempt where attempt.task_id = step.task_id and attempt.step = step.step
      and (attempt.state = 'RUNNING' or attempt.state = 'STARTING' and attempt.claim is not null))`;

/** The next steps that wait, in order of their keys. */
export async function readWaitingSteps(
  database: MediaDatabase,
  { after, limit }: { readonly after: StepKey; readonly limit: number },
): Promise<readonly WaitingStep[]> {
  const { rows } = await sql<WaitingStep>`/* steps.read-waiting */ ${WAITING}
      and (step.task_id, step.step) > (${after.taskId}::uuid, ${after.step})
    order by step.task_id, step.step limit ${limit}`.execute(database);
  return rows;
}

/** One step if it still waits; under the lock on its task that stays true, but for a claim. */
export async function readWaitingStep(
  transaction: MediaTransaction,
  { taskId, step }: StepKey,
): Promise<WaitingStep | null> {
  const { rows } = await sql<WaitingStep>`/* steps.read-waiting-one */ ${WAITING}
      and step.task_id = ${taskId}::uuid and step.step = ${step}`.execute(transaction);
  return rows[0] ?? null;
}
