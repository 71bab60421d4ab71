import { AppError, type AppErrorCode, type Problem } from '../../platform/errors.ts';
import { withRestNames } from './field-names.ts';

/** How the codes of our errors look over REST, by service: application failure, or an HTTP status. */

/** HTTP status by code. Whatever is not listed is our own mistake: 500, masked. */
type Statuses = Readonly<Partial<Record<AppErrorCode, number>>>;

/** How a service tells failures. */
export interface FailureRules {
  readonly statuses: Statuses;
  /** A message in the words of the service's documents. */
  readonly withServiceNames: (message: string, field: string | undefined) => string;
}

const commonStatuses = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  IDEMPOTENCY_CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  RATE_LIMITED: 429,
  QUEUE_FULL: 503,
  UNAVAILABLE: 503,
} as const;

/** The media service: what its documents call an application failure has status 200. */
const mediaStatuses: Statuses = {
  ...commonStatuses,
  BAD_USER_INPUT: 200,
  NOT_FOUND: 200,
  CONFLICT: 200,
  NOT_CONFIGURED: 200,
  TOO_LATE: 200,
  EVENTS_EXPIRED: 200,
};

/** How the media service puts failures: statuses by code, REST names for GraphQL ones. */
export const mediaFailures: FailureRules = { statuses: mediaStatuses, withServiceNames: withRestNames };

/** The workflow service; a name that is taken is the caller's input. */
const workflowStatuses: Statuses = {
  ...commonStatuses,
  BAD_USER_INPUT: 400,
  NOT_FOUND: 404,
  CONFLICT: 400,
  NOT_CONFIGURED: 503,
  TOO_LATE: 409,
  EVENTS_EXPIRED: 404,
};

/** Its schema names fields as its documents do. */
export const workflowFailures: FailureRules = {
  statuses: workflowStatuses,
  withServiceNames: (message) => message,
};

/** Seconds after which a 503 or 429 without its own advice may be tried again. */
const defaultRetryAfter = 5;

/** What is sent for a failure, apart from its envelope. */
interface FailureFacts {
  readonly status: number;
  readonly msg: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Which inputs are at fault, where that is known. */
  readonly problems: readonly Problem[];
  /** True when it was not expected: to be logged. */
  readonly unexpected: boolean;
}

/** What an AppError, or anything else that was thrown, means for its caller. The trace id leads to the log line. */
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

/** Whether callers may be told of an error with this code; any other one is masked. */
export function isKnownCode(code: unknown): code is AppErrorCode {
  return typeof code === 'string' && Object.hasOwn(mediaStatuses, code);
}
