/** Why a task or an attempt failed; all but the last three are what an upstream may say. */
export const failureCodes = [
  'MODERATION_REFUSED',
  'INVALID_INPUT',
  'RATE_LIMITED',
  'OUT_OF_CREDIT',
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
}

/** Why a reply of a language model failed. */
export interface ChatFailure extends Failure {
  /** Seconds the upstream asked to wait. */
  readonly retryAfter?: number;
}

/** The upstream's part of FailureCode. */
export type UpstreamCode = Exclude<FailureCode, 'START_UNKNOWN' | 'STORAGE_FAILED' | 'INTERNAL'>;

/** The one error of every provider. The message may be shown to callers: no secrets, no URLs with tokens. */
export class UpstreamError extends Error {
  readonly code: UpstreamCode;
  /** Whether the same request may succeed later or at another binding. */
  readonly retryable: boolean;
  /** Seconds the upstream asked us to wait, when it did. */
  readonly retryAfter: number | undefined;
  /** True when a start may have happened though no usable answer came (timed out, cut, 500, malformed). */
  readonly startUnknown: boolean;
  /** The input field at fault, in Kiln's words. */
  readonly field: string | undefined;

  constructor(
    code: UpstreamCode,
    message: string,
    options: {
      retryable: boolean;
      retryAfter?: number;
      startUnknown?: boolean;
      field?: string;
      cause?: unknown;
    },
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'UpstreamError';
    this.code = code;
    this.retryable = options.retryable;
    this.retryAfter = options.retryAfter;
    this.startUnknown = options.startUnknown ?? false;
    this.field = options.field;
  }
}

/** An upstream's error as a task or attempt keeps it. */
export function failureOf(error: UpstreamError): Failure {
  return {
    code: error.code,
    message: error.message,
    retryable: error.retryable,
    ...(error.field === undefined ? {} : { field: error.field }),
  };
}
