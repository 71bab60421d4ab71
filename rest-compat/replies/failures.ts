import { AppError, type AppErrorCode, type Problem } from '../../platform/errors.ts';
import { withRestNames } from './field-names.ts';

/** What the error codes of AppError become over REST, by service. */

/** HTTP status by code. Other codes are our own mistakes: 500, masked. */
type Statuses = Readonly<Partial<Record<AppErrorCode, number>>>;

/** How a service reports failures. */
export interface FailureRules {
  readonly statuses: Statuses;
  /** The message with the field names of the service's documents. */
  readonly withServiceNames: (message: string, field: string | undefined) => string;
}

const commonStatuses = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  IDEMPOTENCY_CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  RATE_LIMITED: 429,
  BUDGET_EXCEEDED: 429,
  QUEUE_FULL: 503,
  UNAVAILABLE: 503,
} as const;

/** The media service's statuses: its documents give application failures status 200. */
const mediaStatuses: Statuses = {
  ...commonStatuses,
  BAD_USER_INPUT: 200,
  NOT_FOUND: 200,
  CONFLICT: 200,
  NOT_CONFIGURED: 200,
  MODEL_RETIRED: 200,
  NOT_INSTALLED: 200,
  TOO_LATE: 200,
  EVENTS_EXPIRED: 200,
};

/** How the media service reports failures: with REST names in place of GraphQL's. */
export const mediaFailures: FailureRules = { statuses: mediaStatuses, withServiceNames: withRestNames };

/** The workflow service's statuses: there a name that is taken is bad input. */
const workflowStatuses: Statuses = {
  ...commonStatuses,
  BAD_USER_INPUT: 400,
  NOT_FOUND: 404,
  CONFLICT: 400,
  NOT_CONFIGURED: 503,
  MODEL_RETIRED: 410,
  NOT_INSTALLED: 409,
  TOO_LATE: 409,
  EVENTS_EXPIRED: 404,
};

/** How the workflow service reports failures: its schema and its documents have the same names. */
export const workflowFailures: FailureRules = {
  statuses: workflowStatuses,
  withServiceNames: (message) => message,
};

/** Retry-After in seconds of a 503 or 429 that names none itself. */
const defaultRetryAfter = 5;

/** The facts of a failed response, before its envelope. */
interface FailureFacts {
  readonly status: number;
  readonly msg: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The inputs that are at fault, where that is known. */
  readonly problems: readonly Problem[];
  /** True when nobody foresaw it, so that it is logged. */
  readonly unexpected: boolean;
}

/** The facts of the response to whatever was thrown. The trace id leads to the log line. */
export function failureFacts(
  thrown: unknown,
  traceId: string,
  { statuses, withServiceNames }: FailureRules,
): FailureFacts {
  const status = thrown instanceof AppError ? statuses[thrown.code] : undefined;
  if (!(thrown instanceof AppError) || status === undefined) {
    const msg = `internal error; the log has it under trace ${traceId}`;
    return { status: 500, msg, headers: {}, problems: [], unexpected: true };
  }
  const { field, problems } = thrown;
  const msg = withServiceNames(thrown.message, field);
  return {
    status,
    msg,
    headers: headersFor(thrown, status),
    problems: problems.length === 0 && field !== undefined ? [{ field, message: msg }] : problems,
    unexpected: false,
  };
}

function headersFor(error: AppError, status: number): Record<string, string> {
  if (status === 401) return { 'WWW-Authenticate': 'Bearer' };
  if ((status !== 429 && status !== 503) || error.code === 'NOT_CONFIGURED') return {};
  const seconds = Math.max(1, Math.ceil(error.retryAfter ?? defaultRetryAfter));
  return { 'Retry-After': String(seconds) };
}

/** Whether a code is one that callers may see; errors with any other one are masked. */
export function isKnownCode(code: unknown): code is AppErrorCode {
  return typeof code === 'string' && Object.hasOwn(mediaStatuses, code);
}
