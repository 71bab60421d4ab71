import { sql } from 'kysely';

import type { TaskRow, MediaTransaction } from '../../database/database.ts';
import type { AttemptKey } from '../../domain/attempt.ts';
import type { Failure, FailureCode } from '../../domain/failure.ts';
import { formatStage, type Stage } from '../../domain/words/stages.ts';
import type { GeneratorRegistry, PlacedAttempt, Binding } from '../../generators/bindings/binding.ts';
import { bindingsTaking, firstUsable } from '../../generators/limits/limits.ts';
import { moveStep, readSteps } from '../storage/step-store.ts';
import type { TransactionScope } from '../storage/transactor.ts';
import { enqueueStarts } from './queues.ts';

/** How often and how long a step is tried. */
export interface AttemptBounds {
  readonly registry: GeneratorRegistry;
  /** Fewest attempts that a step may have which may have cost something; a generator with more bindings tries each once. */
  readonly maxAttempts: number;
}

/** An attempt that failed, and why. */
export interface FailedAttempt {
  readonly step: number;
  readonly failure: Failure;
  readonly attempt: AttemptKey & PlacedAttempt;
  /** Seconds the upstream asked to wait. */
  readonly retryAfter?: number | undefined;
  /** Whether it certainly began nothing, for a reason that passes: such attempts are not counted. */
  readonly isPassing?: boolean;
}

/**
 * Queues the step's next attempt, on the next binding or later on the same, but on none that is unable. False when attempts,
 * or the time since the step's first try, are used up.
 */
export async function queueNextAttempt(
  bounds: AttemptBounds,
  { scope, task }: { readonly scope: TransactionScope; readonly task: TaskRow },
  { step, failure, attempt, retryAfter = 0, isPassing = false }: FailedAttempt,
): Promise<boolean> {
  if (!failure.retryable && failure.ofBinding !== true) return false;
  const steps = await readSteps(scope.transaction, task.id);
  const current = steps.find((entry) => entry.step === step);
  if (current === undefined) return false;
  // None when the settings have changed since the task was accepted: then there is no other attempt.
  const bindings = bindingsTaking(bounds.registry, current.input);
  const counted = await countAttempts(scope.transaction, attempt);
  if (!isPassing && counted >= Math.max(bounds.maxAttempts, bindings.length)) return false;
  const before = bounds.registry.ofAttempt(attempt)?.name;
  const index = bindings.findIndex(({ name }) => name === before);
  const unable = await bindingsUnable(scope.transaction, attempt);
  const others = [...bindings.slice(index + 1), ...bindings.slice(0, index + 1)];
  const next = firstUsable(others.filter(({ name }) => !unable.has(name)));
  if (next === undefined) return false;
  // A binding that was not used yet is used at once; one that was gets a pause that doubles.
  const isFresh = attempt.number < bindings.length && breakerWait(next) === 0;
  const atLeast = next.name === before ? Math.max(retryAfter, breakerWait(next)) : breakerWait(next);
  const pause = isFresh ? 0 : pauseSeconds(Math.max(0, attempt.number - bindings.length), atLeast);
  const spent = (Date.now() - (current.startedAt ?? task.createdAt).getTime()) / 1000;
  if (spent + pause > longestBudget(bindings)) return false;
  await moveStep(scope.transaction, { taskId: task.id, step, state: 'QUEUED', binding: next.id });
  await enqueueStarts(scope, task, [{ step, binding: next.id }], pause);
  const why = failure.code === 'RATE_LIMITED' ? 'busy' : 'away';
  const stage =
    isPassing && pause > 0 ? waitingStage(current, why, pause) : formatStage(current, 'trying again');
  await scope.append([{ taskId: task.id, stage }]);
  return true;
}

/** Waiting for a provider that takes no start now: what proves it, for how long, and what the task says meanwhile. */

/** What a start may be refused with that will pass by itself. */
const PASSING: readonly FailureCode[] = ['RATE_LIMITED', 'UNAVAILABLE', 'TIMED_OUT', 'LOST'];

/** Longest pause between two tries, in seconds, before its jitter. */
const LONGEST_PAUSE_SECONDS = 60;

/** Whether a start that failed like this is simply sent later: it certainly began nothing, so that it cost nothing. */
export function isPassing({ code, retryable }: Failure): boolean {
  return retryable && PASSING.includes(code);
}

/** How many attempts of a step count: all but those that certainly began nothing, or could not at their binding. */
async function countAttempts(
  transaction: MediaTransaction,
  { taskId, step }: { readonly taskId: string; readonly step: number },
): Promise<number> {
  const { rows } = await sql<{ counted: number }>`/* prepared: attempts.count */
    select count(*)::integer as counted from media.attempts
    where task_id = ${taskId}::uuid and step = ${step} and not (state = 'CANCELLED' and claim is null) and not (
      state = 'FAILED' and claim is not null and running_at is null and handle is null
      and ((error->>'retryable')::boolean and error->>'code' = any(${PASSING}::text[]) or (error->>'ofBinding')::boolean))`.execute(
    transaction,
  );
  return rows[0]?.counted ?? 0;
}

/** The names of the bindings that can't do a step, as their upstreams have said: their models are gone, or their credentials are refused. */
async function bindingsUnable(
  transaction: MediaTransaction,
  { taskId, step }: { readonly taskId: string; readonly step: number },
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ binding: string }>`/* prepared: attempts.unable */
    select distinct coalesce(binding_name, binding) as binding from media.attempts
    where task_id = ${taskId}::uuid and step = ${step} and (error->>'ofBinding')::boolean`.execute(
    transaction,
  );
  return new Set(rows.map(({ binding }) => binding));
}

/** Seconds until a step is tried again: growing with each try, no sooner than the provider asks, and not all at once. */
export function pauseSeconds(tries: number, atLeast: number): number {
  const growing = Math.min(LONGEST_PAUSE_SECONDS, 2 ** Math.min(tries, 16));
  return Math.ceil(Math.max(growing, atLeast) * (1 + Math.random() / 2));
}

/** Seconds in which a step may be tried again: the longest of its bindings. */
export function longestBudget(bindings: readonly Binding[]): number {
  return Math.max(0, ...bindings.map(({ budgetSeconds }) => budgetSeconds));
}

/** Seconds until the provider of a binding may be sent a start. */
export function breakerWait({ breaker }: Binding): number {
  return Math.ceil((breaker?.waitMs() ?? 0) / 1000);
}

/** What a task says while a step of it waits for a provider. */
export function waitingStage(step: { readonly label: string }, why: 'away' | 'busy', seconds: number): Stage {
  return formatStage(step, `provider ${why}, next try in ${seconds} s`);
}
