import { sql } from 'kysely';

import { isUniqueViolation } from '../../../../platform/database/database.ts';
import { jsonText } from '../../../../platform/json.ts';
import { attemptColumns } from '../../database/columns.ts';
import type { AttemptRow, MediaDatabase, MediaTransaction } from '../../database/database.ts';
import { jsonEntries } from '../../database/expressions.ts';
import { type Attempt, type AttemptKey, type AttemptState, hashTaskId } from '../../domain/attempt.ts';
import type { Cost, Units } from '../../domain/cost.ts';
import type { Failure } from '../../domain/failure.ts';
import { asJson } from '../../domain/task.ts';
import type { Binding } from '../../generators/bindings/binding.ts';
import { identifyUpstream } from '../../generators/bindings/identity.ts';
import type { Handle } from '../../providers/contract/provider.ts';

/** SQL of attempts: opening, claiming, closing. Polling is in poll-store.ts. */

type Executor = MediaDatabase | MediaTransaction;

/** The attempts of one task, in order. */
export interface TaskAttempts {
  readonly taskId: string;
  readonly attempts: readonly Attempt[];
}

/** What callers see of an attempt, and what its cost is made of. */
interface SeenRow extends Omit<Attempt, 'cost'> {
  readonly settled: boolean;
  readonly unsent: boolean;
  readonly microUnits: number | null;
  readonly currency: string | null;
  readonly units: Units | null;
  readonly estimated: boolean;
}

/** Every attempt of these tasks, as callers see it; tasks without any are left out. */
export async function readSeenAttempts(
  database: Executor,
  taskIds: readonly string[],
): Promise<readonly TaskAttempts[]> {
  const { rows } = await sql<SeenRow>`/* prepared: attempts.read-seen */
    select task_id, step, number, provider, model, reference, state, error, started_at, ended_at,
      settled_at is not null as settled, state = 'CANCELLED' and claim is null as unsent,
      cost as micro_units, currency, units, cost_estimated as estimated
    from media.attempts where task_id = any(${taskIds}::uuid[]) order by task_id, step, number`.execute(
    database,
  );
  return [...Map.groupBy(rows, ({ taskId }) => taskId)].map(([taskId, own]) => ({
    taskId,
    attempts: own.map(toAttempt),
  }));
}

const NOTHING: Cost = { microUnits: 0, currency: null, units: {}, estimated: false };

function toAttempt({ settled, unsent, microUnits, currency, units, estimated, ...seen }: SeenRow): Attempt {
  if (settled) return { ...seen, cost: { microUnits, currency, units: units ?? {}, estimated } };
  // What was cancelled before its claim was never sent.
  return { ...seen, cost: unsent ? NOTHING : null };
}

/** Every attempt of these tasks, in order. */
export async function readAttempts(
  database: Executor,
  taskIds: readonly string[],
): Promise<readonly AttemptRow[]> {
  return database
    .selectFrom('media.attempts')
    .selectAll()
    .where(sql<boolean>`task_id = any(${taskIds}::uuid[])`)
    .orderBy('taskId')
    .orderBy('step')
    .orderBy('number')
    .execute();
}

/** The running attempt of a reference. */
export async function findRunning(database: Executor, reference: string): Promise<AttemptRow | undefined> {
  return database
    .selectFrom('media.attempts')
    .selectAll()
    .where('reference', '=', reference)
    .where('state', '=', 'RUNNING')
    .executeTakeFirst();
}

/** Adds the next attempt of a step as STARTING; nothing has been sent for it yet. */
export async function insertAttempt(
  transaction: MediaTransaction,
  { taskId, step, binding, model }: { taskId: string; step: number; binding: Binding; model: string | null },
): Promise<AttemptRow> {
  const { rows } = await sql<AttemptRow>`/* prepared: attempts.insert */
    insert into media.attempts (task_id, step, number, binding, binding_name, upstream, provider, model, reference)
    select ${taskId}::uuid, ${step}, next.number, ${binding.id}, ${binding.name}, ${identifyUpstream(binding)}, ${binding.provider.name}, ${model},
      concat_ws('/', ${hashTaskId(taskId)}::text, ${step}::text, next.number::text)
    from (select coalesce(max(number), 0) + 1 as number from media.attempts
          where task_id = ${taskId}::uuid and step = ${step}) next
    returning ${attemptColumns('attempts')}`.execute(transaction);
  const row = rows[0];
  if (row === undefined) throw new Error('an inserted attempt did not come back');
  return row;
}

/** Takes the right to send a start that is unclaimed, of a task without a cancel request. False when it is not ours. */
export async function claimAttempt(database: Executor, key: AttemptKey, claim: string): Promise<boolean> {
  const { rows } = await sql`/* prepared: attempts.take-claim */
    update media.attempts attempt set claim = ${claim}::uuid, claimed_at = now()
    from media.tasks task
    where attempt.task_id = ${key.taskId}::uuid and attempt.step = ${key.step} and attempt.number = ${key.number}
      and attempt.state = 'STARTING' and attempt.claim is null
      and task.id = attempt.task_id and task.state in ('QUEUED', 'RUNNING') and task.cancel_requested_at is null
    returning 1`.execute(database);
  return rows.length === 1;
}

/** Takes over a claim whose owner has not renewed it for `staleSeconds`. Answers whether it is ours now. */
export async function takeOverClaim(
  database: Executor,
  key: AttemptKey,
  { claim, staleSeconds }: { claim: string; staleSeconds: number },
): Promise<boolean> {
  const { rows } = await sql`/* attempts.take-over */
    update media.attempts set claim = ${claim}::uuid, claimed_at = now()
    where task_id = ${key.taskId}::uuid and step = ${key.step} and number = ${key.number}
      and state = 'STARTING' and claim is not null and claimed_at < now() - make_interval(secs => ${staleSeconds})
    returning 1`.execute(database);
  return rows.length === 1;
}

/** Renews a claim. False when another worker has it by now. */
export async function renewClaim(database: Executor, key: AttemptKey, claim: string): Promise<boolean> {
  const { rows } = await sql`/* prepared: attempts.renew-claim */
    update media.attempts set claimed_at = now()
    where task_id = ${key.taskId}::uuid and step = ${key.step} and number = ${key.number}
      and state = 'STARTING' and claim = ${claim}::uuid returning 1`.execute(database);
  return rows.length === 1;
}

/** Starts that were claimed by a worker that is gone: the backstop behind redelivered start jobs. */
export async function findStaleClaims(
  database: MediaDatabase,
  { staleSeconds, limit }: { staleSeconds: number; limit: number },
): Promise<readonly AttemptRow[]> {
  return database
    .selectFrom('media.attempts')
    .selectAll()
    .where('state', '=', 'STARTING')
    .where(sql<boolean>`claimed_at < now() - make_interval(secs => ${staleSeconds})`)
    .orderBy('claimedAt')
    .limit(limit)
    .execute();
}

/** The hash by which an upstream account's handles are told apart. */
const hashHandle = (handle: Handle) => sql`md5(${jsonText(asJson(handle))}::jsonb::text)::uuid`;

/** Whether a handle could not be saved as another attempt at the same upstream and account has it. */
export function isHandleTaken(thrown: unknown): boolean {
  return isUniqueViolation(thrown, 'attempts_handle');
}

/**
 * Saves the upstream's handle under our claim; the attempt runs from now on. False when the claim was lost. Throws what
 * `isHandleTaken` knows.
 */
export async function saveHandle(
  transaction: MediaTransaction,
  key: AttemptKey,
  { claim, handle, pollMs }: { claim: string; handle: Handle; pollMs: number },
): Promise<boolean> {
  const { rows } = await sql`/* prepared: attempts.save-handle */
    update media.attempts set handle = ${jsonText(asJson(handle))}::jsonb, handle_hash = ${hashHandle(handle)},
      state = 'RUNNING', running_at = now(), next_poll_at = now() + make_interval(secs => ${pollMs / 1000})
    where task_id = ${key.taskId}::uuid and step = ${key.step} and number = ${key.number}
      and state = 'STARTING' and claim = ${claim}::uuid returning 1`.execute(transaction);
  return rows.length === 1;
}

/** An attempt that is closed if it is still in one of `from` (and under `claim`, when there is one, or under none yet). */
export interface ClosedAs extends AttemptKey {
  readonly from: readonly AttemptState[];
  readonly to: AttemptState;
  readonly error?: Failure | undefined;
  readonly claim?: string | undefined;
  /** Only while nobody has claimed it (default: whether or not). */
  readonly isUnclaimed?: boolean | undefined;
}

/** Closes attempts; answers those that it has closed. They are locked in order of their keys, as by polling. */
export async function closeAttempts(
  database: Executor,
  attempts: readonly ClosedAs[],
): Promise<readonly AttemptKey[]> {
  const { rows } = await sql<AttemptKey>`/* prepared: attempts.close */
    with ${jsonEntries(
      attempts,
      `"taskId" uuid, step integer, number integer, "from" text[], "to" text, error jsonb,
       claim uuid, "isUnclaimed" boolean`,
    )}, held as materialized (
      select attempt.task_id, attempt.step, attempt.number, entry."to", entry.error
      from media.attempts attempt join entry
        on attempt.task_id = entry."taskId" and attempt.step = entry.step and attempt.number = entry.number
      where attempt.state = any(entry."from") and (entry.claim is null or attempt.claim = entry.claim)
        and (attempt.claim is null or entry."isUnclaimed" is not true)
      order by attempt.task_id, attempt.step, attempt.number for update of attempt
    )
    update media.attempts attempt set state = held."to", error = held.error, ended_at = now() from held
    where attempt.task_id = held.task_id and attempt.step = held.step and attempt.number = held.number
    returning attempt.task_id, attempt.step, attempt.number`.execute(database);
  return rows;
}

/** Closes one attempt. False when it was not to be closed. */
export async function closeAttempt(
  database: Executor,
  { taskId, step, number }: AttemptKey,
  change: Omit<ClosedAs, keyof AttemptKey>,
): Promise<boolean> {
  const closed = await closeAttempts(database, [{ taskId, step, number, ...change }]);
  return closed.length === 1;
}

/**
 * Takes a closed attempt up again because its start was answered after all: it runs, and superseded as it is, the poller
 * cancels it. False when it is not closed, or was closed with a handle. Throws what `isHandleTaken` knows.
 */
export async function reopenAttempt(database: Executor, key: AttemptKey, handle: Handle): Promise<boolean> {
  const { rows } = await sql`/* attempts.reopen */
    update media.attempts set handle = ${jsonText(asJson(handle))}::jsonb, handle_hash = ${hashHandle(handle)},
      state = 'RUNNING', running_at = now(), next_poll_at = now(), poll_failures = 0, ended_at = null
    where task_id = ${key.taskId}::uuid and step = ${key.step} and number = ${key.number}
      and state in ('FAILED', 'CANCELLED', 'UNKNOWN') and handle is null returning 1`.execute(database);
  return rows.length === 1;
}

/** Whether an attempt is the newest of its step, and the step waits for its end. */
export async function isCurrent(database: Executor, { taskId, step, number }: AttemptKey): Promise<boolean> {
  const { rows } = await sql`/* prepared: attempts.is-current */
    select from media.task_steps step where task_id = ${taskId}::uuid and step.step = ${step}
      and state in ('RUNNING', 'STORING') and ${number} = (
        select max(number) from media.attempts where task_id = ${taskId}::uuid and step = ${step})`.execute(
    database,
  );
  return rows.length === 1;
}

/** Whether anything of a task is still open at an upstream, or about to be. */
export async function hasOpenAttempts(database: Executor, taskId: string): Promise<boolean> {
  const { rows } = await sql`/* prepared: attempts.has-open */
    select 1 from media.attempts where task_id = ${taskId}::uuid and state in ('STARTING', 'RUNNING') limit 1`.execute(
    database,
  );
  return rows.length > 0;
}

/**
 * Closes the attempts of a task (or one step of it) that nobody has sent: there is nothing upstream to cancel. Answers how many: one
 * that has been claimed meanwhile is left, as a claim waits for no lock of the task.
 */
export async function closeUnsentAttempts(
  transaction: MediaTransaction,
  taskId: string,
  step: number | null = null,
): Promise<number> {
  const { numAffectedRows } = await sql`/* prepared: attempts.close-unsent */
    update media.attempts set state = 'CANCELLED', ended_at = now()
    where task_id = ${taskId}::uuid and state = 'STARTING' and claim is null
      and (${step}::integer is null or step = ${step})`.execute(transaction);
  return Number(numAffectedRows ?? 0);
}
