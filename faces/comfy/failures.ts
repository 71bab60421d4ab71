import { AppError, type AppErrorCode } from '../../platform/errors.ts';
import type { EdgeStyle } from '../../rest-compat/replies/response-style.ts';
import { MalformedBody } from '../../rest-compat/request/body/body.ts';
import { ComfyRefusal } from './call.ts';

/** Failures in the words of Comfy's API: `{ error: { code, message, details } }`. Its clients go by `code`, then by status. Pure. */

/** An answer to whatever was thrown. */
interface FailureAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
  /** True when nobody foresaw it, so that it is logged. */
  readonly unexpected: boolean;
}

/** Status and code of each refusal of the graph. */
const words: Readonly<Partial<Record<AppErrorCode, readonly [number, string]>>> = {
  BAD_USER_INPUT: [422, 'invalid_request'],
  QUERY_REFUSED: [422, 'invalid_request'],
  UNAUTHENTICATED: [401, 'unauthorized'],
  FORBIDDEN: [403, 'forbidden'],
  NOT_FOUND: [404, 'not_found'],
  NOT_INSTALLED: [422, 'invalid_workflow'],
  MODEL_RETIRED: [422, 'invalid_workflow'],
  CONFLICT: [409, 'conflict'],
  TOO_LATE: [409, 'too_late'],
  IDEMPOTENCY_CONFLICT: [422, 'idempotency_key_reuse'],
  PAYLOAD_TOO_LARGE: [413, 'payload_too_large'],
  RATE_LIMITED: [429, 'rate_limited'],
  BUDGET_EXCEEDED: [402, 'insufficient_credits'],
  QUEUE_FULL: [429, 'queue_full'],
  NOT_CONFIGURED: [503, 'not_configured'],
  UNAVAILABLE: [503, 'unavailable'],
};

/** The code of what nobody foresaw. */
const UNFORESEEN = 'upstream_error';

/** Seconds where none are known. */
const DEFAULT_RETRY_AFTER = 5;
const PASSING: readonly number[] = [429, 503];

/** The answer to whatever was thrown. The trace id leads to the log line. */
export function failureAnswer(thrown: unknown, traceId: string): FailureAnswer {
  const error =
    thrown instanceof MalformedBody
      ? new AppError('BAD_USER_INPUT', thrown.message, { cause: thrown })
      : thrown;
  if (error instanceof ComfyRefusal) {
    const { status, code, message, details } = error;
    return {
      status,
      headers: retryHeaders(status),
      body: errorBody(code, message, details),
      unexpected: false,
    };
  }
  const known = error instanceof AppError ? words[error.code] : undefined;
  if (!(error instanceof AppError) || known === undefined) {
    const message = `something went wrong here; the log has it under trace ${traceId}`;
    return { status: 500, headers: {}, body: errorBody(UNFORESEEN, message), unexpected: true };
  }
  const [status, code] = known;
  const headers = status === 401 ? { 'WWW-Authenticate': 'Bearer' } : retryHeaders(status, error.retryAfter);
  return { status, headers, body: errorBody(code, error.message, listProblems(error)), unexpected: false };
}

/** What is wrong by node, as ComfyUI tells it, where the refusal names nodes; else the fields. */
export function listProblems({ field, message, problems }: AppError): object | null {
  const all = problems.length > 0 ? problems : field === undefined ? [] : [{ field, message }];
  if (all.length === 0) return null;
  const byNode = Map.groupBy(all, ({ field: name }) => /^(?:workflow|inputs)\.([^.]+)/.exec(name)?.[1] ?? '');
  const nodes = [...byNode].flatMap(([node, found]) => {
    const errors = found.map((one) => ({ field: one.field, reason: one.message }));
    return node === '' ? [] : [[node, errors] as const];
  });
  return { problems: all, ...(nodes.length > 0 && { node_errors: Object.fromEntries(nodes) }) };
}

function retryHeaders(status: number, seconds = DEFAULT_RETRY_AFTER): Record<string, string> {
  return PASSING.includes(status) ? { 'Retry-After': String(Math.max(1, Math.ceil(seconds))) } : {};
}

function errorBody(code: string, message: string, details: object | null = null): object {
  return { error: { code, message, details } };
}

/** How the face responds to what fails before it is asked: a credential that is wrong, a database that is away. */
export const comfyStyle: EdgeStyle = {
  failure: (thrown, { traceId }) => failureAnswer(thrown, traceId),
  refusal: ({ status, message }) =>
    errorBody(status >= 500 ? UNFORESEEN : status === 404 ? 'not_found' : 'invalid_request', message),
};
