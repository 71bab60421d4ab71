import { AppError } from '../../../platform/errors.ts';
import { UpstreamError, failureOf as upstreamFailure, type ChatFailure } from '../domain/failure.ts';

/** Why replies fail, as it is stored and shown. */

/** This process stops, and begins no reply. */
export const STOPPING: ChatFailure = {
  code: 'UNAVAILABLE',
  message: 'the server stops; ask again',
  retryable: true,
};

/** The process that made a reply ended in the middle of it. Its provider gives no reply out twice, and may charge for each. */
export const INTERRUPTED: ChatFailure = {
  code: 'START_UNKNOWN',
  message:
    'the server stopped while this reply was being made, which may have been paid for; ask again with a new idempotencyKey',
  retryable: false,
};

/** It took longer than a reply may take. */
export const TOO_SLOW: ChatFailure = {
  code: 'TIMED_OUT',
  message: 'the reply took too long and was broken off; ask again with a new idempotencyKey',
  retryable: true,
};

/** The stored failure of an error. Unknown errors are masked. */
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
