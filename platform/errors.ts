/**
 * Kiln's own errors: one class, one literal code each. They become HTTP, GraphQL or an envelope only at the edge
 * (rest-compat/replies, platform/graphql/operations/errors.ts). Any other error is unknown: masked for callers and
 * logged with its traceId.
 */

import { readOtherCell } from './ids.ts';

/** Error codes that callers may switch on. The edge maps each to an HTTP status. */
export type AppErrorCode =
  /** The input is wrong; `field` names it, the message says the remedy. 400 (422 for declared REST inputs). */
  | 'BAD_USER_INPUT'
  /** No such object, or it belongs to somebody else. 404. */
  | 'NOT_FOUND'
  /** A credential is needed, expired or forged. 401. */
  | 'UNAUTHENTICATED'
  /** The caller is known but not allowed. 403. */
  | 'FORBIDDEN'
  /** The same Idempotency-Key was used for a different request. 409. */
  | 'IDEMPOTENCY_CONFLICT'
  /** A unique name is taken (task_type, template code, external id). 409 in GraphQL; the documents say otherwise on REST. */
  | 'CONFLICT'
  /** A body or file is larger than the limit. 413. */
  | 'PAYLOAD_TOO_LARGE'
  /** Too many requests of this caller. 429, with retryAfter. */
  | 'RATE_LIMITED'
  /** A budget does not allow it; nothing was started. 429, with retryAfter. */
  | 'BUDGET_EXCEEDED'
  /** The binding's queue is full; nothing was written. 503, with retryAfter. */
  | 'QUEUE_FULL'
  /** The model has ended at its provider; the message names its successor. 410. */
  | 'MODEL_RETIRED'
  /** No machine has what the graph needs: the message names each node class and model file. Nothing was started. 409. */
  | 'NOT_INSTALLED'
  /** The task's event log was pruned; the task itself is still readable. 410. */
  | 'EVENTS_EXPIRED'
  /** Too late (cancelling while the result is being stored). 409. */
  | 'TOO_LATE'
  /** No binding serves this generator here; the message says which setting is missing. 503. */
  | 'NOT_CONFIGURED'
  /** A dependency does not answer (database, object store, subgraph). 503. */
  | 'UNAVAILABLE'
  /** A GraphQL document is deeper, longer or costlier than allowed. 400. */
  | 'QUERY_REFUSED'
  /** A bug of ours. 500, masked. */
  | 'INTERNAL';

/** One problem of the input: which field, and what to do about it. */
export interface Problem {
  readonly field: string;
  readonly message: string;
}

export interface AppErrorOptions {
  /** The wrong input field, as the caller named it. */
  readonly field?: string;
  /** Every problem found, when there may be several. */
  readonly problems?: readonly Problem[];
  /** Seconds after which a retry makes sense. */
  readonly retryAfter?: number;
  /** The limit that refused: what is left of it, and when it renews. */
  readonly limit?: RefusingLimit;
  readonly cause?: unknown;
}

/** A limit that has refused something, for callers who may know its numbers. */
export interface RefusingLimit {
  /** What is bounded, as `10 USD a month`. */
  readonly allowed: string;
  /** Null where only the allowed number is known. */
  readonly left: number | null;
  /** ISO 8601; null when it does not renew by time. */
  readonly renewsAt: string | null;
}

/** An expected failure. The message is written for the caller and never carries a secret. */
export class AppError extends Error {
  readonly code: AppErrorCode;
  readonly field: string | undefined;
  readonly problems: readonly Problem[];
  readonly retryAfter: number | undefined;
  readonly limit: RefusingLimit | undefined;

  constructor(code: AppErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.field = options.field;
    this.problems = options.problems ?? [];
    this.retryAfter = options.retryAfter;
    this.limit = options.limit;
  }
}

/** One wrong field and its remedy. */
export function badInput(field: string, message: string): AppError {
  return new AppError('BAD_USER_INPUT', message, { field });
}

/** An object that does not exist, or that the caller may not see. */
export function notFound(what: string, id: string): AppError {
  const cell = readOtherCell(id);
  const remedy =
    cell === null ? '' : `: it is of cell ${cell}, so ask there, or name it in the address (?cell=${cell})`;
  return new AppError('NOT_FOUND', `no ${what} ${JSON.stringify(id.slice(0, 100))}${remedy}`);
}

/** The thrown value as an Error; the original is its cause. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown), { cause: thrown });
}
