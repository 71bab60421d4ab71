import { randomBytes } from 'node:crypto';

import { json } from '../../http/answer.ts';
import type { Answer } from '../../http/answer.ts';

/** The failure of a job that was refused for its content. */
export const MODERATED = 'This content was refused by moderation';
/** Prefix of the failure of a job with unusable inputs. */
export const INVALID = 'invalid: ';

/** One wrong field of a request. */
export interface FieldProblem {
  /** Dotted path: input.resolution. */
  readonly field: string;
  readonly message: string;
  readonly reason: string;
  readonly allowed?: readonly string[];
}

/** An error of v3: its envelope, and a trace id. */
export function refusal(
  status: number,
  code: string,
  {
    message,
    details = [],
    retryAfter,
  }: {
    readonly message: string;
    readonly details?: readonly FieldProblem[];
    readonly retryAfter?: number | undefined;
  },
): Answer {
  const traceId = randomBytes(16).toString('hex');
  const error = {
    ...envelope(code, message),
    ...(retryAfter !== undefined && { retry_after: retryAfter }),
    ...(details[0] !== undefined && { param: details[0].field, details }),
    type: toErrorType(status),
  };
  return json({ error, trace_id: traceId }, status, { 'x-trace-id': traceId });
}

/** The envelope alone, as failed jobs have it. */
export function envelope(code: string, message: string): object {
  return { code, message, retryable: RETRYABLE.has(code), retry_after: null, param: null, details: null };
}

const RETRYABLE = new Set(['RESOURCE_EXHAUSTED', 'DEADLINE_EXCEEDED', 'UNAVAILABLE', 'INTERNAL']);

/** The error type of OpenAI for a status. */
function toErrorType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

/** The codes of the statuses that every wire answers with. */
export const CODES = {
  404: 'NOT_FOUND',
  413: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
} as const;

/** A 400 about one field of `input`. */
export function invalidInput(problem: FieldProblem): Answer {
  return refusal(400, 'INVALID_ARGUMENT', { message: 'Invalid input.', details: [problem] });
}
