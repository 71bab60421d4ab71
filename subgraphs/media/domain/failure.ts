import { AppError, type AppErrorCode } from '../../../platform/errors.ts';

/** Why a task or an attempt failed; all but the last three are what an upstream may say. */
export const failureCodes = [
  'MODERATION_REFUSED',
  'INVALID_INPUT',
  'RATE_LIMITED',
  'OUT_OF_CREDIT',
  'MODEL_GONE',
  'UNAVAILABLE',
  'TIMED_OUT',
  'LOST',
  'START_UNKNOWN',
  'STORAGE_FAILED',
  'INTERNAL',
] as const;

/** Why a task failed. */
export type FailureCode = (typeof failureCodes)[number];

/** A failure as callers see it: never an upstream's secrets. */
export interface Failure {
  readonly code: FailureCode;
  readonly message: string;
  readonly retryable: boolean;
  /** The input field at fault, when one is. */
  readonly field?: string;
  /** Whether the binding's own settings are at fault, so that another one is asked at once; absent: no. */
  readonly ofBinding?: boolean;
}

/** Why a reply of a language model failed. */
export interface ChatFailure extends Failure {
  /** Seconds the upstream asked to wait. */
  readonly retryAfter?: number;
}

/** The upstream's part of FailureCode. */
export type UpstreamCode = Exclude<FailureCode, 'START_UNKNOWN' | 'STORAGE_FAILED' | 'INTERNAL'>;

interface UpstreamErrorOptions {
  /** Whether the same request may succeed later or elsewhere; by default unless its content was refused. */
  readonly retryable?: boolean;
  readonly retryAfter?: number | undefined;
  readonly startUnknown?: boolean;
  readonly field?: string | undefined;
  readonly refusedCredentials?: boolean;
  readonly isPartial?: boolean;
  readonly cause?: unknown;
}

/** The one error of every provider. The message may be shown to callers: no secrets, no URLs with tokens. */
export class UpstreamError extends Error {
  readonly code: UpstreamCode;
  /** Whether the same request may succeed later or at another binding. */
  readonly retryable: boolean;
  /** Seconds the upstream asked us to wait, when it did. */
  readonly retryAfter: number | undefined;
  /** True when a start may have happened though no usable answer came (timed out, cut, 500, malformed). */
  readonly startUnknown: boolean;
  /** The input field at fault, by Kiln's name. */
  readonly field: string | undefined;
  /** Whether the upstream refused the binding's own credentials. */
  readonly refusedCredentials: boolean;
  /** Whether it is away for this request alone: other work goes on there, so that it counts as an answer. */
  readonly isPartial: boolean;
  /** Whether the binding's own settings are at fault (its model or its credentials): another binding may take the same request. */
  readonly ofBinding: boolean;

  constructor(code: UpstreamCode, message: string, options: UpstreamErrorOptions = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'UpstreamError';
    this.code = code;
    this.retryable = options.retryable ?? !PERMANENT.has(code);
    this.retryAfter = options.retryAfter;
    this.startUnknown = options.startUnknown ?? false;
    this.field = options.field;
    this.refusedCredentials = options.refusedCredentials ?? false;
    this.isPartial = options.isPartial ?? false;
    this.ofBinding = this.refusedCredentials || code === 'MODEL_GONE';
  }
}

/** The same request would be refused again. */
const PERMANENT: ReadonlySet<UpstreamCode> = new Set(['MODERATION_REFUSED', 'INVALID_INPUT', 'MODEL_GONE']);

/** An input that the upstream does not take, or that can't be had. */
export function invalidInput(field: string, reason: string, cause?: unknown): UpstreamError {
  return new UpstreamError('INVALID_INPUT', `${field}: ${reason}`, { field, cause });
}

/** A refusal of the binding's credentials: the same request would be refused again until an operator changes them. */
export function refusedCredentials(message: string): UpstreamError {
  return new UpstreamError('UNAVAILABLE', message, { retryable: false, refusedCredentials: true });
}

/** The upstream does not have the binding's model (any more), or not for its credentials: nothing was done. The message has its words. */
export function modelGone(message: string): UpstreamError {
  return new UpstreamError('MODEL_GONE', message);
}

/** An upstream's error as tasks and attempts store it. */
export function toFailure(error: UpstreamError): Failure {
  return {
    code: error.code,
    message: error.message,
    retryable: error.retryable,
    ...(error.field === undefined ? {} : { field: error.field }),
    ...(error.ofBinding && { ofBinding: true }),
  };
}

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
