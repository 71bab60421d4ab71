import { sql } from 'kysely';

import type { MediaTransaction } from '../../database/database.ts';
import type { FailureCode, Failure } from '../../domain/failure.ts';
import { type Stage, stageOf } from '../../domain/words/stages.ts';
import type { Binding } from '../../generators/bindings/binding.ts';

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
export async function countAttempts(
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
export async function bindingsUnable(
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
  return stageOf(step, `provider ${why}, next try in ${seconds} s`);
}
