import { AppError } from '../../../platform/errors.ts';
import { callersError } from '../questions/ask.ts';
import type { ChatFailure } from './tables.ts';

/** Why a reply failed: as it is kept, and as it is thrown to everybody who asks for it. */

/** The process that made a reply ended in the middle of it. */
export const INTERRUPTED: ChatFailure = {
  code: 'UNAVAILABLE',
  message: 'the server stopped while this reply was being made; ask again with a new idempotencyKey',
};

/** It took longer than a reply may take. */
export const TOO_SLOW: ChatFailure = {
  code: 'UNAVAILABLE',
  message: 'the reply took too long and was broken off; ask again with a new idempotencyKey',
};

/** What is kept of whatever was thrown. A mistake of ours says nothing but that. */
export function failureOf(thrown: unknown): ChatFailure {
  const error = callersError(thrown);
  if (!(error instanceof AppError)) return { code: 'INTERNAL', message: 'something went wrong on our side' };
  const { code, message, field, retryAfter } = error;
  return {
    code,
    message,
    ...(field === undefined ? {} : { field }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  };
}

export function errorOf({ code, message, field, retryAfter }: ChatFailure): AppError {
  return new AppError(code, message, {
    ...(field === undefined ? {} : { field }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  });
}
