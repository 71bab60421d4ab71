import type { EventBus } from '../../../../../platform/events/event-bus.ts';
import { createDeadline } from '../../../../../platform/http/deadline.ts';
import type { StepPlanner } from '../../../domain/task.ts';
import type { FileService } from '../../../files/files.ts';
import type { Binding } from '../../../generators/bindings/binding.ts';
import type { CallContext, JobCapability } from '../../../providers/contract/provider.ts';
import { afterFailuresMs } from '../../rules/poll-times.ts';
import type { DueAttempt, NextPoll } from '../../storage/poll-store.ts';
import { connectionFor, toAttemptKey } from '../attempts/attempt-context.ts';
import type { WorkerDependencies, WorkerSlots } from '../attempts/dependencies.ts';
import type { ProgressWriter } from './progress-writer.ts';
import type { Reporting } from './progress.ts';
import type { UsualDurations } from './usual-durations.ts';

/** What the sandbox's studio takes for most things, until more is known. */
const SANDBOX_SECONDS = 6;

/** What polling needs besides. */
export interface PollDependencies extends WorkerDependencies {
  /** On which cancel requests, and attempts that have become due, are published. */
  readonly bus: EventBus;
  readonly planner: Pick<StepPlanner, 'progress'>;
  readonly progress: ProgressWriter;
  readonly files: Pick<FileService, 'store'>;
  readonly durations: UsualDurations;
  readonly slots: Pick<WorkerSlots, 'poll'>;
}

/** A due attempt with everything that is needed to ask its upstream. */
export interface PollContext {
  readonly due: DueAttempt;
  readonly binding: Binding;
  readonly capability: JobCapability;
  readonly stopping: AbortSignal;
}

/** Makes a status or cancel call; its clock ends with it, as there are thousands of them in the time that each may take. */
export async function callUpstream<Answer>(
  { limits }: WorkerDependencies,
  { due, binding, stopping }: PollContext,
  call: (context: CallContext) => Promise<Answer>,
): Promise<Answer> {
  const deadline = createDeadline({ timeoutMs: limits.statusTimeoutMs, signal: stopping });
  try {
    return await call({ connection: connectionFor(binding, due.stepInput), signal: deadline.signal });
  } finally {
    deadline.clear();
  }
}

/** What a report of progress is made with. */
export function createReporting(
  { planner, durations }: PollDependencies,
  { due, binding }: Pick<PollContext, 'due' | 'binding'>,
): Reporting {
  const usual = binding.models?.find(({ id }) => id === due.model)?.usualSeconds ?? null;
  return { planner, usualSeconds: durations.of(due) ?? (binding.sandbox ? SANDBOX_SECONDS : usual) };
}

/** Pause after so many unanswered calls in a row, in milliseconds. */
export function backOffMs({ capability }: PollContext, failures: number): number {
  return afterFailuresMs(capability.pollMs, failures);
}

/** When an attempt is to be polled again, after so many failed calls in a row. */
export function nextPoll(due: DueAttempt, { inMs, failures }: Pick<NextPoll, 'inMs' | 'failures'>): NextPoll {
  return { ...toAttemptKey(due), inMs, answeredAt: performance.now(), failures, leasedUntil: due.nextPollAt };
}
