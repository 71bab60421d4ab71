import { toError } from '../../../../../platform/errors.ts';
import { failureOf, UpstreamError, type Failure } from '../../../domain/failure.ts';
import { isFinal } from '../../../domain/task.ts';
import type { JobStatus } from '../../../providers/contract/provider.ts';
import type { DueAttempt, NextPoll } from '../../storage/poll-store.ts';
import { jobOf, keyOf } from '../attempts/attempt-context.ts';
import { endAttempt } from '../attempts/end-attempt.ts';
import { finishAttempt } from '../results/finish.ts';
import { cancelUpstream } from './cancel-upstream.ts';
import { callContextOf, type PollContext, type PollDependencies } from './poll-context.ts';
import { reportOf } from './progress.ts';
import type { Watchers } from './watchers.ts';

interface Poll {
  readonly due: DueAttempt;
  readonly watchers: Watchers;
  readonly stopping: AbortSignal;
}

const NOT_CONFIGURED = lost('its generator is no longer configured');
const UNREACHABLE = lost('the upstream can not be asked');

function lost(message: string): Failure {
  return { code: 'LOST', message, retryable: true };
}

/** Polls one due attempt; answers when it is due again, or null when it is closed. */
export async function pollAttempt(
  dependencies: PollDependencies,
  { due, watchers, stopping }: Poll,
): Promise<NextPoll | null> {
  const binding = dependencies.registry.byId(due.binding);
  const capability = binding === null ? undefined : jobOf(binding, due.step_input.kind);
  if (binding === null || capability === undefined) return fail(dependencies, due, NOT_CONFIGURED);
  const context: PollContext = { due, binding, capability, stopping };
  if (due.cancel_requested || isFinal(due.task_state)) {
    const isClosed = await cancelUpstream(dependencies, context);
    return isClosed ? null : again(due, { inMs: 1_000, failures: due.poll_failures + 1 });
  }
  if (due.running_seconds > binding.attemptTimeoutSeconds) return giveUp(dependencies, context);
  let status: JobStatus;
  try {
    status = await capability.status(due.handle ?? {}, callContextOf(dependencies, context));
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
    await finishAttempt(dependencies, { attempt: due, from: 'RUNNING', outcome: status.outcome });
    return null;
  }
  if (status.state === 'failed') {
    return fail(dependencies, due, failureOf(status.error), status.error.retryAfter);
  }
  const report = reportOf(dependencies.planner, due, status);
  if (report !== null) dependencies.progress.report(report);
  watchers.follow(context);
  return again(due, { inMs: capability.pollMs, failures: 0 });
}

/** A failed status call says nothing about the work: it is repeated with back-off, a bounded number of times. */
async function afterFailedPoll(
  dependencies: PollDependencies,
  { due, capability }: PollContext,
  error: unknown,
): Promise<NextPoll | null> {
  const { limits, logger } = dependencies;
  const failures = due.poll_failures + 1;
  const upstream = error instanceof UpstreamError ? error : null;
  const isLost = upstream !== null && (upstream.code === 'LOST' || !upstream.retryable);
  if (isLost || failures >= limits.maxPollFailures) {
    const failure = upstream === null ? UNREACHABLE : failureOf(upstream);
    return fail(dependencies, due, { ...failure, retryable: true });
  }
  if (upstream === null) {
    logger.warn({ error: toError(error), reference: due.reference }, 'a status call failed');
  }
  const pauseMs = (upstream?.retryAfter ?? 0) * 1000;
  const backOffMs = Math.min(30_000, capability.pollMs * 2 ** Math.min(failures, 10));
  return again(due, { inMs: Math.max(pauseMs, backOffMs), failures });
}

/** Stalled: what still runs upstream is cancelled where that works, and the next attempt may follow. */
async function giveUp(dependencies: PollDependencies, context: PollContext): Promise<null> {
  const { due, capability, binding } = context;
  await capability
    .cancel?.(due.handle ?? {}, callContextOf(dependencies, context))
    .catch((error: unknown) => {
      const { reference } = due;
      dependencies.logger.warn({ error: toError(error), reference }, 'stalled work could not be cancelled');
    });
  const message = `no result within ${binding.attemptTimeoutSeconds} s`;
  return fail(dependencies, due, { code: 'TIMED_OUT', message, retryable: true });
}

async function fail(
  dependencies: PollDependencies,
  due: DueAttempt,
  failure: Failure,
  retryAfter?: number,
): Promise<null> {
  await endAttempt(dependencies, due, { from: ['RUNNING'], failure, retryAfter });
  return null;
}

function again(due: DueAttempt, { inMs, failures }: { inMs: number; failures: number }): NextPoll {
  return { ...keyOf(due), inMs: Math.round(inMs), failures, leasedUntil: due.next_poll_at };
}
