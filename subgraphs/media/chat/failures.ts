import { AppError } from '../../../platform/errors.ts';
import { UpstreamError, failureOf as upstreamFailure, type ChatFailure } from '../domain/failure.ts';

/** Why a reply failed: as it is kept and shown, and as it is thrown to a caller who waits for all of it. */

/** The process that made a reply ended in the middle of it. */
export const INTERRUPTED: ChatFailure = {
  code: 'UNAVAILABLE',
  message: 'the server stopped while this reply was being made; ask again with a new idempotencyKey',
  retryable: true,
};

/** It took longer than a reply may take. */
export const TOO_SLOW: ChatFailure = {
  code: 'TIMED_OUT',
  message: 'the reply took too long and was broken off; ask again with a new idempotencyKey',
  retryable: true,
};

/** What is kept of whatever was thrown. A mistake of ours says nothing but that. */
export function failureOf(thrown: unknown): ChatFailure {
  if (thrown instanceof UpstreamError) {
    const { retryAfter } = thrown;
    return { ...upstreamFailure(thrown), ...(retryAfter === undefined ? {} : { retryAfter }) };
  }
  // An input that turned out to be unusable while its bytes were fetched.
  if (thrown instanceof AppError && thrown.code === 'BAD_USER_INPUT') {
    const { message, field } = thrown;
    return { code: 'INVALID_INPUT', message, retryable: false, ...(field === undefined ? {} : { field }) };
  }
  return { code: 'INTERNAL', message: 'something went wrong on our side', retryable: false };
}
