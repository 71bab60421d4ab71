import type { Failure } from '../../domain/failure.ts';
import { failureOf, UpstreamError } from '../../domain/failure.ts';

/** Failures as tasks and attempts keep them. */

/** The failure behind whatever a provider threw. What is not an UpstreamError is our mistake and says nothing else. */
export function failureFrom(thrown: unknown): Failure {
  if (thrown instanceof UpstreamError) return failureOf(thrown);
  return { code: 'INTERNAL', message: 'something went wrong on our side', retryable: false };
}

/** The start of an attempt that may or may not have happened, and that nobody can tell. */
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

/** Errors whose message is fit for callers, by name: the classes live where they are thrown. */
const TELLING = new Set(['AppError', 'HttpFailure', 'PermanentResultError', 'StaleResult', 'UpstreamError']);

/** A result that could not be stored, and why. */
export function storageFailure(thrown: unknown): Failure {
  const reason = thrown instanceof Error && TELLING.has(thrown.name) ? `: ${thrown.message}` : '';
  return { code: 'STORAGE_FAILED', message: `the result could not be stored${reason}`, retryable: false };
}
