import type { EventBus } from '../../../../../platform/events/event-bus.ts';
import type { StepPlanner } from '../../../domain/steps.ts';
import type { Binding } from '../../../generators/bindings/binding.ts';
import type { CallContext, JobCapability } from '../../../providers/contract/provider.ts';
import type { DueAttempt, NextPoll } from '../../storage/poll-store.ts';
import { connectionFor, keyOf } from '../attempts/attempt-context.ts';
import type { WorkerDependencies } from '../attempts/dependencies.ts';
import type { ProgressWriter } from './progress-writer.ts';

/** What polling needs besides. */
export interface PollDependencies extends WorkerDependencies {
  /** On which cancel requests, and attempts that have become due, are published. */
  readonly bus: EventBus;
  readonly planner: Pick<StepPlanner, 'progress'>;
  readonly progress: ProgressWriter;
}

/** A due attempt with everything that is needed to ask its upstream. */
export interface PollContext {
  readonly due: DueAttempt;
  readonly binding: Binding;
  readonly capability: JobCapability;
  readonly stopping: AbortSignal;
}

/** Connection and signal of a status or cancel call. */
export function callContextOf(
  { limits }: WorkerDependencies,
  { due, binding, stopping }: PollContext,
): CallContext {
  return {
    connection: connectionFor(binding, due.stepInput),
    signal: AbortSignal.any([stopping, AbortSignal.timeout(limits.statusTimeoutMs)]),
  };
}

/** Pause after so many unanswered calls in a row, in milliseconds. */
export function backOffMs({ capability }: PollContext, failures: number): number {
  return Math.min(30_000, capability.pollMs * 2 ** Math.min(failures, 10));
}

/** When an attempt is to be polled again, after so many failed calls in a row. */
export function nextPoll(due: DueAttempt, { inMs, failures }: Pick<NextPoll, 'inMs' | 'failures'>): NextPoll {
  return { ...keyOf(due), inMs: Math.round(inMs), failures, leasedUntil: due.nextPollAt };
}
