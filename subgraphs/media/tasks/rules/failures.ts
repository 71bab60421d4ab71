import type { Failure } from '../../domain/failure.ts';
import { UpstreamError } from '../../domain/failure.ts';

/** Failures as tasks and attempts store them. */

const START_UNKNOWN_MESSAGE =
  'it is not known whether the upstream took this work, so it was not started again; submit it anew';

/**
 * The failure of a start that may or may not have happened; `retry` says whether it may simply be started again, `cause`
 * is what the start ended with: an upstream's own words are kept.
 */
export function startUnknown({
  retry,
  cause,
}: {
  readonly retry: boolean;
  readonly cause?: unknown;
}): Failure {
  const reason = cause instanceof UpstreamError ? ` (${cause.message})` : '';
  return { code: 'START_UNKNOWN', message: START_UNKNOWN_MESSAGE + reason, retryable: retry };
}

/** A start that certainly did not happen: the next attempt may follow. */
export const START_LOST: Failure = {
  code: 'LOST',
  message: 'the upstream never got this start',
  retryable: true,
};

/** Names of the errors whose messages callers may see. */
const SAFE_MESSAGES = new Set([
  'AppError',
  'HttpFailure',
  'PermanentResultError',
  'StaleResult',
  'UpstreamError',
]);

/** A result that could not be stored, and why. */
export function storageFailure(thrown: unknown): Failure {
  const reason = thrown instanceof Error && SAFE_MESSAGES.has(thrown.name) ? `: ${thrown.message}` : '';
  return { code: 'STORAGE_FAILED', message: `the result could not be stored${reason}`, retryable: false };
}
