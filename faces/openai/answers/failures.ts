import { AppError, type AppErrorCode } from '../../../platform/errors.ts';
import { renamed, withRouteNames } from '../../../rest-compat/replies/field-names.ts';
import type { EdgeStyle } from '../../../rest-compat/replies/response-style.ts';
import { MalformedBody } from '../../../rest-compat/request/body/body.ts';
import type { FaceTask } from '../documents/task.ts';
import { ModelNotFound } from '../models/model.ts';
import { TaskFailed } from '../tasks/follow.ts';

/** Failures in OpenAI's words: `{ error: { message, type, param, code } }` and a status that its SDKs understand. Pure. */

interface Words {
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
}

/** An answer to whatever was thrown. */
export interface FailureAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly error: OpenaiError };
  /** True when nobody foresaw it, so that it is logged. */
  readonly unexpected: boolean;
}

/** An error as OpenAI words it. */
export interface OpenaiError {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

const invalid = 'invalid_request_error';
const server = 'server_error';

const refusals: Readonly<Partial<Record<AppErrorCode, Words>>> = {
  BAD_USER_INPUT: { status: 400, type: invalid, code: 'invalid_value' },
  QUERY_REFUSED: { status: 400, type: invalid, code: 'invalid_value' },
  UNAUTHENTICATED: { status: 401, type: invalid, code: 'invalid_api_key' },
  FORBIDDEN: { status: 403, type: 'permission_error', code: 'insufficient_permissions' },
  NOT_FOUND: { status: 404, type: invalid, code: 'not_found' },
  NOT_INSTALLED: { status: 409, type: invalid, code: 'not_installed' },
  MODEL_RETIRED: { status: 404, type: invalid, code: 'model_not_found' },
  EVENTS_EXPIRED: { status: 410, type: invalid, code: 'expired' },
  CONFLICT: { status: 409, type: invalid, code: 'conflict' },
  TOO_LATE: { status: 409, type: invalid, code: 'too_late' },
  IDEMPOTENCY_CONFLICT: { status: 409, type: invalid, code: 'idempotency_conflict' },
  PAYLOAD_TOO_LARGE: { status: 413, type: invalid, code: 'payload_too_large' },
  RATE_LIMITED: { status: 429, type: 'rate_limit_exceeded', code: 'rate_limit_exceeded' },
  BUDGET_EXCEEDED: { status: 429, type: 'insufficient_quota', code: 'insufficient_quota' },
  QUEUE_FULL: { status: 503, type: server, code: 'engine_overloaded' },
  NOT_CONFIGURED: { status: 503, type: server, code: 'not_configured' },
  UNAVAILABLE: { status: 503, type: server, code: 'unavailable' },
};

type FailureCode = NonNullable<FaceTask['error']>['code'];

const ends: Readonly<Record<FailureCode, Words>> = {
  MODERATION_REFUSED: { status: 400, type: invalid, code: 'moderation_blocked' },
  INVALID_INPUT: { status: 400, type: invalid, code: 'invalid_value' },
  RATE_LIMITED: { status: 429, type: 'rate_limit_exceeded', code: 'rate_limit_exceeded' },
  OUT_OF_CREDIT: { status: 429, type: 'insufficient_quota', code: 'insufficient_quota' },
  MODEL_GONE: { status: 404, type: invalid, code: 'model_not_found' },
  UNAVAILABLE: { status: 503, type: server, code: 'unavailable' },
  TIMED_OUT: { status: 500, type: server, code: 'timed_out' },
  LOST: { status: 500, type: server, code: 'lost' },
  START_UNKNOWN: { status: 500, type: server, code: 'start_unknown' },
  STORAGE_FAILED: { status: 500, type: server, code: 'storage_failed' },
  INTERNAL: { status: 500, type: server, code: 'server_error' },
};

/** Whether a refusal passes by itself; after any other one an SDK's retry would only be refused again. */
const passing: readonly AppErrorCode[] = ['RATE_LIMITED', 'QUEUE_FULL', 'UNAVAILABLE'];

/** Retry-After in seconds where none is known. */
const DEFAULT_RETRY_AFTER = 5;

/** Ends of a reply that may have been paid for: Kiln has stopped in it, waited no longer, or could not keep it. */
export const lostReplies = ['START_UNKNOWN', 'TIMED_OUT', 'STORAGE_FAILED', 'INTERNAL'] as const;

/** A reply has ended so: an SDK must not ask again by itself. */
export class ReplyLost extends AppError {
  readonly why: (typeof lostReplies)[number];

  constructor(why: ReplyLost['why'], message: string) {
    super('INTERNAL', message);
    this.name = 'ReplyLost';
    this.why = why;
  }
}

/** The answer to whatever was thrown. The trace id leads to the log line. */
export function failureAnswer(thrown: unknown, traceId: string): FailureAnswer {
  if (thrown instanceof TaskFailed) return endAnswer(thrown.task);
  const error = thrown instanceof MalformedBody ? malformed(thrown) : aboutField(thrown);
  const words = error instanceof AppError ? findWords(error) : undefined;
  if (!(error instanceof AppError) || words === undefined) {
    const message = `The server had an error while processing your request; its log has it under trace ${traceId}.`;
    const body = { error: { message, type: server, param: null, code: null } };
    return { status: 500, headers: { 'x-should-retry': 'false' }, body, unexpected: true };
  }
  const { status, type, code } = words;
  return {
    status,
    headers: toHeaders(error, status),
    body: { error: { type, code, ...toWords(error) } },
    unexpected: false,
  };
}

/** How a task that has ended without result is answered. */
function endAnswer(task: FaceTask): FailureAnswer {
  const { status, ...rest } = endWords(task);
  return { status, headers: { 'x-should-retry': 'false' }, body: { error: rest }, unexpected: false };
}

/** The error of a task that has ended without result; its status besides. */
export function endWords({ error, state, kind }: FaceTask): OpenaiError & { readonly status: number } {
  if (error === null || state === 'CANCELLED') {
    const message = error?.message ?? 'the work was cancelled';
    return { status: 409, message, type: invalid, param: null, code: 'cancelled' };
  }
  const words = ends[error.code];
  const isImage = error.code === 'MODERATION_REFUSED' && kind === 'IMAGE';
  return {
    ...words,
    ...(isImage && { type: 'image_generation_user_error' }),
    ...toWords(error),
  };
}

function findWords(error: AppError): Words | undefined {
  if (error instanceof ReplyLost) return ends[error.why];
  return error instanceof ModelNotFound
    ? { status: 404, type: invalid, code: 'model_not_found' }
    : refusals[error.code];
}

/** An error of GraphQL about a variable, which no caller here has sent, as one about the field that it came of. */
function aboutField(thrown: unknown): unknown {
  return thrown instanceof AppError && thrown.field === undefined ? withRouteNames(thrown, {}) : thrown;
}

function malformed({ message, cause }: MalformedBody): AppError {
  return new AppError('BAD_USER_INPUT', message, { cause });
}

function toHeaders({ code, retryAfter }: AppError, status: number): Record<string, string> {
  const retry = { 'x-should-retry': String(passing.includes(code)) };
  if (status === 401) return { ...retry, 'WWW-Authenticate': 'Bearer' };
  if (!passing.includes(code)) return retry;
  return { ...retry, 'Retry-After': String(Math.max(1, Math.ceil(retryAfter ?? DEFAULT_RETRY_AFTER))) };
}

/** OpenAI's names of the graph's inputs. */
const params: ReadonlyMap<string, string> = new Map([
  ['count', 'n'],
  ['resolution', 'size'],
  ['aspectRatio', 'size'],
  ['outputFormat', 'output_format'],
  ['images', 'image'],
  ['firstFrame', 'input_reference'],
  ['duration', 'seconds'],
  ['text', 'input'],
  ['voiceId', 'voice'],
  ['format', 'response_format'],
  ['conversation', 'messages'],
  ['maxTokens', 'max_completion_tokens'],
  ['toolChoice', 'tool_choice'],
  ['responseFormat', 'response_format'],
  ['reasoningEffort', 'reasoning_effort'],
  ['idempotencyKey', 'Idempotency-Key'],
  ['callbackUrl', 'X-Callback-Url'],
]);

function toParam(field: string): string {
  const [name = '', ...rest] = field.split(/(?=[[.])/);
  const members =
    name === 'conversation' ? rest.map((one) => one.replace(/^\.(?:text|parts)$/, '.content')) : rest;
  return [params.get(name) ?? name, ...members].join('');
}

/** The field at fault and the message about it, by the name that the caller has sent. */
function toWords({
  field,
  message,
}: {
  readonly field?: string | null | undefined;
  readonly message: string;
}) {
  if (field === undefined || field === null) return { message, param: null };
  const { field: param, message: words } = renamed({ field, message }, toParam(field));
  return { message: words, param };
}

/** How the face responds to what fails before it is asked: a credential that is wrong, a database that is away. */
export const openaiStyle: EdgeStyle = {
  failure(thrown, { traceId }) {
    const { headers, ...answer } = failureAnswer(thrown, traceId);
    return { ...answer, headers: { ...headers, 'x-request-id': traceId } };
  },
  refusal: ({ status, message }) => ({
    error: { message, type: status < 500 ? invalid : server, param: null, code: null },
  }),
};
