import { sql } from 'kysely';

import type { MediaDatabase, MediaTransaction } from '../../database/database.ts';
import { jsonEntries } from '../../database/expressions.ts';
import type { AttemptKey } from '../../domain/attempt.ts';
import type { StepState } from '../../domain/task.ts';
import type { StepInput } from '../../domain/work/work.ts';
import type { Binding } from '../../generators/bindings/binding.ts';
import { identifyUpstream } from '../../generators/bindings/identity.ts';

/** SQL of what the sweep looks after: steps that only a job moves, and work that nobody knows. */

/** A step that waits for its job. */
export interface WaitingStep {
  readonly taskId: string;
  readonly step: number;
  /** RUNNING is one whose attempt was opened and not claimed yet. */
  readonly state: Extract<StepState, 'QUEUED' | 'RUNNING' | 'STORING'>;
  readonly binding: string;
  readonly input: StepInput;
  readonly waitingSeconds: number;
  /** Since when no process has known its binding; null: one does, or nobody has looked. */
  readonly unknownSeconds: number | null;
}

/** Names a step. */
export type StepKey = Pick<WaitingStep, 'taskId' | 'step'>;

const WAITING = sql`
  select step.task_id, step.step, step.state, step.binding, step.input,
    extract(epoch from now() - step.waiting_since)::double precision as waiting_seconds,
    extract(epoch from now() - step.unknown_since)::double precision as unknown_seconds
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

/*
 * Work whose binding a process does not know: another one may (a rolling restart, a canary), so that only what no process has
 * known for a while is given up. Who meets it notes since when, and who knows its binding removes the note.
 */

/** Notes that an attempt is at no upstream of this process; the seconds since it was first noted. */
export async function noteUnknownAttempt(
  database: MediaDatabase,
  { taskId, step, number }: AttemptKey,
): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`/* attempts.note-unknown */
    update media.attempts set unknown_since = coalesce(unknown_since, now())
    where task_id = ${taskId}::uuid and step = ${step} and number = ${number}
    returning extract(epoch from now() - unknown_since)::double precision as seconds`.execute(database);
  return rows[0]?.seconds ?? 0;
}

/** Notes steps that wait for a binding which this process does not have. */
export async function noteUnknownSteps(database: MediaDatabase, steps: readonly StepKey[]): Promise<void> {
  if (steps.length === 0) return;
  const keys = steps.map(({ taskId, step }) => ({ taskId, step }));
  await sql`/* steps.note-unknown */
    with ${jsonEntries(keys, `"taskId" uuid, step integer`)}
    update media.task_steps step set unknown_since = now() from entry
    where step.task_id = entry."taskId" and step.step = entry.step and step.unknown_since is null`.execute(
    database,
  );
}

/** Most notes on steps that are looked at in one sweep. */
const MAX_NOTED = 1_000;

/** Removes the notes on what the bindings of this process serve; of a step that waits at one of them `isKnown` says so. */
export async function noteKnown(
  database: MediaDatabase,
  bindings: readonly Binding[],
  isKnown: (step: Pick<WaitingStep, 'state' | 'binding' | 'input'>) => boolean,
): Promise<void> {
  const ids = bindings.map(({ id }) => id);
  await sql`/* attempts.note-known */
    update media.attempts set unknown_since = null where unknown_since is not null
      and (upstream = any(${bindings.map(identifyUpstream)}::text[]) or upstream is null and binding = any(${ids}::text[]))`.execute(
    database,
  );
  const { rows } = await sql<WaitingStep>`/* steps.noted */
    select task_id, step, state, binding, input from media.task_steps
    where unknown_since is not null and binding = any(${ids}::text[]) limit ${MAX_NOTED}`.execute(database);
  const known = rows.filter(isKnown).map(({ taskId, step }) => ({ taskId, step }));
  if (known.length === 0) return;
  await sql`/* steps.note-known */
    with ${jsonEntries(known, `"taskId" uuid, step integer`)}
    update media.task_steps step set unknown_since = null from entry
    where step.task_id = entry."taskId" and step.step = entry.step`.execute(database);
}
