import { toError } from '../../../../../platform/errors.ts';
import { withSpan } from '../../../../../platform/tracing/span.ts';
import { toFailure, UpstreamError, type Failure } from '../../../domain/failure.ts';
import { isFinal } from '../../../domain/task.ts';
import type { JobStatus } from '../../../providers/contract/provider.ts';
import { whileAwayMs } from '../../rules/poll-times.ts';
import type { DueAttempt, NextPoll } from '../../storage/poll-store.ts';
import { noteUnknownAttempt } from '../../storage/sweep-store.ts';
import { attemptSpan, findJob, toAttemptKey } from '../attempts/attempt-context.ts';
import { type AttemptEnd, endAttempt } from '../attempts/end-attempt.ts';
import { callCancel, cancelAttempt } from './cancel-upstream.ts';
import {
  backOffMs,
  callUpstream,
  nextPoll,
  createReporting,
  type PollContext,
  type PollDependencies,
} from './poll-context.ts';
import { createReport } from './progress.ts';
import type { Watchers } from './watchers.ts';

interface Poll {
  readonly due: DueAttempt;
  readonly watchers: Watchers;
  readonly stopping: AbortSignal;
}

/** Pause between polls of an attempt whose binding is not configured in this process, in milliseconds. */
const UNCONFIGURED_PAUSE_MS = 2_000;

/** Polls one due attempt; answers when it is due again, or null when it is closed. */
export function pollAttempt(dependencies: PollDependencies, poll: Poll): Promise<NextPoll | null> {
  const { due } = poll;
  const span = attemptSpan(dependencies, 'poll work', { ...due, attempt: due });
  return withSpan(span, () => pollOnce(dependencies, poll));
}

async function pollOnce(
  dependencies: PollDependencies,
  { due, watchers, stopping }: Poll,
): Promise<NextPoll | null> {
  const binding = dependencies.registry.ofAttempt(due);
  const capability = binding === null ? undefined : findJob(binding, due.stepInput.kind);
  if (binding === null || capability === undefined) return afterMissingBinding(dependencies, due);
  const context: PollContext = { due, binding, capability, stopping };
  if (due.cancelRequested || due.superseded || isFinal(due.taskState)) {
    return cancelAttempt(dependencies, context);
  }
  const isOver = isOverdue(dependencies, context);
  if (!isOver && binding.breaker?.admit() === false) return later(due, binding.breaker.pauseMs());
  let status: JobStatus;
  try {
    status = await callUpstream(dependencies, context, (call) => capability.status(due.handle ?? {}, call));
  } catch (error) {
    stopping.throwIfAborted();
    return afterFailedPoll(dependencies, context, error);
  }
  return settle(dependencies, { context, status, watchers });
}

async function settle(
  dependencies: PollDependencies,
  {
    context,
    status,
    watchers,
  }: { readonly context: PollContext; readonly status: JobStatus; readonly watchers: Watchers },
): Promise<NextPoll | null> {
  const { due, capability } = context;
  if (status.state === 'finished') {
    dependencies.durations.learn(due);
    await dependencies.finishAttempt({ attempt: due, from: 'RUNNING', outcome: status.outcome });
    return null;
  }
  if (status.state === 'failed') {
    return fail(dependencies, due, toFailure(status.error), { retryAfter: status.error.retryAfter });
  }
  if (due.runningSeconds > context.binding.attemptTimeoutSeconds) {
    return afterTimeout(dependencies, context);
  }
  const report = createReport(createReporting(dependencies, context), due, status);
  if (report !== null) dependencies.progress.report(report);
  watchers.follow(context);
  return nextPoll(due, { inMs: dependencies.durations.pauseMs(due, capability.pollMs), failures: 0 });
}

/** Its upstream is left alone for a while; then not all of its attempts ask at once. */
function later(due: DueAttempt, pauseMs: number): NextPoll {
  return nextPoll(due, { inMs: whileAwayMs(pauseMs), failures: due.pollFailures });
}

/**
 * A failed status call says nothing about the work, unless the upstream itself says that it has lost it: it is repeated
 * with back-off until the attempt's timeout, and then for the time that a cancel is given.
 */
async function afterFailedPoll(
  dependencies: PollDependencies,
  context: PollContext,
  error: unknown,
): Promise<NextPoll | null> {
  const { due } = context;
  const upstream = error instanceof UpstreamError ? error : null;
  if (upstream?.code === 'LOST') {
    return fail(dependencies, due, { ...toFailure(upstream), retryable: true });
  }
  if (upstream === null) {
    dependencies.logger.warn({ error: toError(error), reference: due.reference }, 'a status call failed');
  }
  if (isOverdue(dependencies, context)) return failUnanswered(dependencies, context);
  const failures = due.pollFailures + 1;
  const pauseMs = Math.min(MAX_REQUESTED_PAUSE_MS, (upstream?.retryAfter ?? 0) * 1000);
  return nextPoll(due, { inMs: Math.max(pauseMs, backOffMs(context, failures)), failures });
}

/** Longest pause that an upstream may ask for, in milliseconds: deadlines are looked at after it. */
const MAX_REQUESTED_PAUSE_MS = 60_000;

/** Still running after its timeout: cancelled where the wire can, and only then the next attempt may follow. */
async function afterTimeout(dependencies: PollDependencies, context: PollContext): Promise<NextPoll | null> {
  const { due, binding } = context;
  const outcome = await callCancel(dependencies, context);
  const isOver = isOverdue(dependencies, context);
  // Too late: it may just have finished, so its status is read until there is no more time for it.
  if (outcome === 'cancelled' || outcome === 'impossible' || (outcome === 'too-late' && isOver)) {
    const message = `no result within ${binding.attemptTimeoutSeconds} s`;
    // What was not cancelled may be charged whenever it ends.
    const ending = outcome === 'cancelled' ? 'failed' : 'unknown';
    return fail(dependencies, due, { code: 'TIMED_OUT', message, retryable: true }, { ending });
  }
  if (isOver) return failUnanswered(dependencies, context);
  const failures = due.pollFailures + 1;
  return nextPoll(due, { inMs: backOffMs(context, failures), failures });
}

function isOverdue({ limits }: PollDependencies, { due, binding }: PollContext): boolean {
  return due.runningSeconds > binding.attemptTimeoutSeconds + limits.cancelBudgetSeconds;
}

/** Nobody answers: the work may be running, so that another attempt could be paid for twice. */
function failUnanswered(dependencies: PollDependencies, { due, binding }: PollContext): Promise<null> {
  const message = `no result within ${binding.attemptTimeoutSeconds} s, and the upstream does not answer; it may still run there, so it was not started again`;
  return fail(dependencies, due, { code: 'TIMED_OUT', message, retryable: false }, { ending: 'unknown' });
}

/** Another process may know the binding (a rolling restart, a canary); nobody does when this goes on for a while. */
async function afterMissingBinding(
  dependencies: PollDependencies,
  due: DueAttempt,
): Promise<NextPoll | null> {
  const seconds = await noteUnknownAttempt(dependencies.database, toAttemptKey(due));
  if (seconds <= dependencies.limits.unconfiguredSeconds) {
    return nextPoll(due, { inMs: UNCONFIGURED_PAUSE_MS, failures: due.pollFailures });
  }
  const message = 'its generator is no longer configured, so that its result can not be fetched';
  return fail(dependencies, due, { code: 'UNAVAILABLE', message, retryable: false });
}

async function fail(
  dependencies: PollDependencies,
  due: DueAttempt,
  failure: Failure,
  end: Pick<AttemptEnd, 'retryAfter' | 'ending'> = {},
): Promise<null> {
  await endAttempt(dependencies, due, { ...end, from: ['RUNNING'], failure });
  return null;
}
