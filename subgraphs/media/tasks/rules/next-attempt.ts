import type { TaskRow } from '../../database/database.ts';
import type { AttemptKey } from '../../domain/attempt.ts';
import type { Failure } from '../../domain/failure.ts';
import { stageOf } from '../../domain/words/stages.ts';
import type { GeneratorRegistry, PlacedAttempt } from '../../generators/bindings/binding.ts';
import { bindingsTaking, firstUsable } from '../../generators/limits/limits.ts';
import { moveStep, readSteps } from '../storage/step-store.ts';
import type { TransactionScope } from '../storage/transactor.ts';
import {
  bindingsUnable,
  longestBudget,
  countAttempts,
  pauseSeconds,
  waitingStage,
  breakerWait,
} from './patience.ts';
import { enqueueStarts } from './steps.ts';

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
  const stage = isPassing && pause > 0 ? waitingStage(current, why, pause) : stageOf(current, 'trying again');
  await scope.append([{ taskId: task.id, stage }]);
  return true;
}
