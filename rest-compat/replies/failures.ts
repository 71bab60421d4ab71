import type { ExecutionResult, GraphQLError } from 'graphql';

import { AppError } from '../../platform/errors.ts';
import type { AppErrorCode } from '../../platform/errors.ts';
import { inRestWords } from '../field-names.ts';

/** How the codes of our errors look over REST on the media service: application failure, or an HTTP status. */

/** HTTP status by code. Whatever is not listed is our own mistake: 500, masked. */
const statuses: Readonly<Partial<Record<AppErrorCode, number>>> = {
  BAD_USER_INPUT: 200,
  NOT_FOUND: 200,
  CONFLICT: 200,
  NOT_CONFIGURED: 200,
  TOO_LATE: 200,
  EVENTS_EXPIRED: 200,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  IDEMPOTENCY_CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  RATE_LIMITED: 429,
  QUEUE_FULL: 503,
  UNAVAILABLE: 503,
};

/** Seconds after which a 503 or 429 without its own advice may be tried again. */
const defaultRetryAfter = 5;

/** What is sent for a failure, apart from its envelope. */
export interface FailureAnswer {
  readonly status: number;
  readonly msg: string;
  readonly headers: Readonly<Record<string, string>>;
  /** True when it was not expected: to be logged. */
  readonly unexpected: boolean;
}

/** The answer to an AppError, or to anything else that was thrown. The trace id leads to the log line. */
export function failureAnswer(thrown: unknown, traceId: string): FailureAnswer {
  const status = thrown instanceof AppError ? statuses[thrown.code] : undefined;
  if (!(thrown instanceof AppError) || status === undefined) {
    const msg = `internal error; the log has it under trace ${traceId}`;
    return { status: 500, msg, headers: {}, unexpected: true };
  }
  const msg = inRestWords(thrown.message, thrown.field);
  return { status, msg, headers: headersFor(thrown, status), unexpected: false };
}

function headersFor(error: AppError, status: number): Record<string, string> {
  if (status === 401) return { 'WWW-Authenticate': 'Bearer' };
  if (status !== 429 && status !== 503) return {};
  const seconds = Math.max(1, Math.ceil(error.retryAfter ?? defaultRetryAfter));
  return { 'Retry-After': String(seconds) };
}

/** The data of a result. Throws its first error as an AppError with the code it carries (unknown ones: INTERNAL). */
export function dataOf(result: ExecutionResult): Readonly<Record<string, unknown>> {
  const [error] = result.errors ?? [];
  if (error !== undefined) throw appErrorOf(error);
  if (result.data === null || result.data === undefined) {
    throw new AppError('INTERNAL', 'a GraphQL result without data and without errors');
  }
  return result.data;
}

function appErrorOf(error: GraphQLError): AppError {
  const { code, retryAfter, field } = error.extensions;
  const known = typeof code === 'string' && code in statuses;
  return new AppError(known ? (code as AppErrorCode) : 'INTERNAL', error.message, {
    cause: error,
    ...(typeof retryAfter === 'number' ? { retryAfter } : {}),
    ...(typeof field === 'string' ? { field } : {}),
  });
}
