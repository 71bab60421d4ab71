import type { Failure } from '../../domain/failure.ts';
import { failureOf, UpstreamError } from '../../domain/failure.ts';

/** Failures as tasks and attempts store them. */

/** The failure of an error that a provider threw. Anything but an UpstreamError is our own fault and is masked. */
export function failureFrom(thrown: unknown): Failure {
  if (thrown instanceof UpstreamError) return failureOf(thrown);
  return { code: 'INTERNAL', message: 'something went wrong on our side', retryable: false };
}

/** A start that may or may not have happened. */
export const START_UNKNOWN: Failure = {
  code: 'START_UNKNOWN',
  message: 'it is not known whether the upstream took this work, so it was not started again; submit it anew',
  retryable: false,
};

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
