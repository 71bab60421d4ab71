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
