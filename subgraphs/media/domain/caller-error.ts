import { AppError, type AppErrorCode } from '../../../platform/errors.ts';
import type { Failure, FailureCode, UpstreamCode } from './failure.ts';

const CODES = {
  MODERATION_REFUSED: 'BAD_USER_INPUT',
  INVALID_INPUT: 'BAD_USER_INPUT',
  RATE_LIMITED: 'RATE_LIMITED',
  OUT_OF_CREDIT: 'UNAVAILABLE',
  MODEL_GONE: 'UNAVAILABLE',
  UNAVAILABLE: 'UNAVAILABLE',
  TIMED_OUT: 'UNAVAILABLE',
  LOST: 'UNAVAILABLE',
  START_UNKNOWN: 'UNAVAILABLE',
} as const satisfies Record<UpstreamCode | 'START_UNKNOWN', AppErrorCode>;

/** A failure as the error of a caller who waits for the answer. Failures of our own are INTERNAL. */
export function toCallerError(
  failure: Pick<Failure, 'code' | 'message'> & {
    readonly field?: string | undefined;
    /** Seconds the upstream asked to wait. */
    readonly retryAfter?: number | undefined;
  },
  cause?: unknown,
): AppError {
  const { code, message, field, retryAfter } = failure;
  const codes: Partial<Record<FailureCode, AppErrorCode>> = CODES;
  const moderation = code === 'MODERATION_REFUSED' ? 'refused by moderation: ' : '';
  return new AppError(codes[code] ?? 'INTERNAL', `${moderation}${message}`, {
    ...(field === undefined ? {} : { field }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
    cause,
  });
}
