import { z } from 'zod';

import type { JsonObject } from '../../../../platform/json.ts';
import { modelGone, refusedCredentials, UpstreamError } from '../../domain/failure.ts';
import type { ProviderWebhook, Connection } from '../contract/provider.ts';
import { errorOfStatus, readRetryAfter, type ExchangeAnswer } from '../shared/exchange.ts';
import { isAboutModel } from '../shared/model-words.ts';
import { createReader, id, text } from '../shared/reader.ts';

/**
 * The bodies of the MiniMax wire, parsed leniently, and its result codes: HTTP is nearly always 200, and the result is
 * in `base_resp.status_code` (platform.minimax.io/docs/api-reference/errorcode). Newer paths answer real HTTP statuses
 * with `{ type: 'error', error: { message: '... (1008)' } }`: the same code, at the end of the message.
 */

/** The reader of minimax's answers. */
export const { read, unreadable } = createReader('minimax');

const baseResp = z.object({ status_code: z.coerce.number(), status_msg: text });
const envelope = z.object({
  base_resp: baseResp.nullish().catch(null),
  error: z.object({ message: text }).nullish().catch(null),
});

/** What a request is about, so that an error can name the field at fault. */
export interface RequestContext {
  /** The field whose content may be refused: prompt, text, sample. */
  readonly content: string;
  /** The error for invalid parameters: the input was wrong, or the id in it is no longer known. */
  readonly invalid: 'INVALID_INPUT' | 'LOST';
  /** Whether a success says so by a code, as those of v1 do (default yes). */
  readonly hasCode?: boolean;
}

/** Throws the vendor's error; returns for a success. */
export function throwRefusal(answer: ExchangeAnswer, about: RequestContext): void {
  const parsed = envelope.safeParse(answer.json).data;
  const message = parsed?.base_resp?.status_msg ?? parsed?.error?.message ?? '';
  const code = parsed?.base_resp?.status_code ?? codeAtEnd(message);
  const error = code === 0 ? null : errorOfCode(code, { message, about, answer });
  if (error !== null) throw error;
  const byStatus = errorOfStatus(answer, `minimax: ${message || `HTTP ${answer.status}`}`.slice(0, 500));
  if (byStatus !== undefined) throw byStatus;
  // A success always has a code: without one the answer is not from this API.
  if (code === null && about.hasCode !== false) throw unreadable(new Error('no base_resp'));
}

function codeAtEnd(message: string): number | null {
  const match = /\((\d{4,5})\)\s*$/.exec(message);
  return match === null ? null : Number(match[1]);
}

const started = z.object({ task_id: id });

/** The task that a submission answered; an empty id with code 0 occurs, and work may have started though. */
export function startedTask(answer: ExchangeAnswer): string {
  const { task_id: taskId } = read(started, answer);
  if (taskId != null) return taskId;
  throw new UpstreamError('UNAVAILABLE', 'minimax accepted a video without naming its task', {
    startUnknown: true,
  });
}

const TRY_LATER = new Set([1002, 1039, 1041, 2045, 2056]);
const NOT_US = new Set([1004, 2038, 2049]);
const REFUSED = new Set([1026, 1027]);
/** Codes of an invalid input, and the field they are always about. */
const WRONG_INPUT: ReadonlyMap<number, string | null> = new Map([
  [1042, null],
  [1043, 'sample'],
  [1044, 'sample'],
  [2013, null],
  [20132, 'voiceId'],
  [2037, 'sample'],
  [2039, 'voiceId'],
  [2042, 'voiceId'],
  [2048, 'sample'],
  [2054, 'voiceId'],
]);

interface CodeContext {
  readonly message: string;
  readonly about: RequestContext;
  readonly answer: ExchangeAnswer;
}

/** The error of a code; null for a success. Unknown codes count as the vendor's own failure. */
function errorOfCode(code: number | null, { message, about, answer }: CodeContext): UpstreamError | null {
  if (code === null) return null;
  const described = `minimax: ${message || 'no reason given'} (${code})`.slice(0, 500);
  if (TRY_LATER.has(code)) {
    return new UpstreamError('RATE_LIMITED', described, { retryAfter: readRetryAfter(answer) });
  }
  if (NOT_US.has(code)) {
    return refusedCredentials('minimax refused our credentials');
  }
  if (code === 1008) {
    return new UpstreamError('OUT_OF_CREDIT', 'minimax: out of credit');
  }
  if (REFUSED.has(code)) {
    const refusal = `minimax refuses this content: ${message}; change it`.slice(0, 500);
    return new UpstreamError('MODERATION_REFUSED', refusal, { field: about.content });
  }
  // 2013 for a model that is not there, 2061 for one that is not in the account's plan.
  if (code === 2061 || (code === 2013 && isAboutModel(message))) return modelGone(described);
  const field = WRONG_INPUT.get(code);
  if (field !== undefined) {
    if (about.invalid === 'LOST') {
      return new UpstreamError('LOST', 'minimax does not know this any more');
    }
    return new UpstreamError('INVALID_INPUT', described, { ...(field !== null && { field }) });
  }
  return new UpstreamError('UNAVAILABLE', described, {
    startUnknown: true,
    retryAfter: readRetryAfter(answer),
  });
}

/** The error of a video of v2 that ended without a result. */
export function failureOfTask(
  said:
    | { readonly code?: string | null | undefined; readonly message?: string | null | undefined }
    | null
    | undefined,
  answer: ExchangeAnswer,
): UpstreamError {
  const message = said?.message ?? '';
  const about: RequestContext = { content: 'prompt', invalid: 'INVALID_INPUT' };
  const code = /^\d+$/.test(said?.code ?? '') ? Number(said?.code) : codeAtEnd(message);
  return orUnavailable(errorOfCode(code, { message, about, answer }), message);
}

/** The error of a video that ended as `Fail`: the code says whether its content was the reason. */
export function failureOfVideo(answer: ExchangeAnswer): UpstreamError {
  const parsed = envelope.safeParse(answer.json).data?.base_resp;
  const message = parsed?.status_msg ?? '';
  const about: RequestContext = { content: 'prompt', invalid: 'INVALID_INPUT' };
  const error = parsed?.status_code ? errorOfCode(parsed.status_code, { message, about, answer }) : null;
  return orUnavailable(error, message);
}

/** What the content was the reason for; anything else may succeed another time. */
function orUnavailable(error: UpstreamError | null, message: string): UpstreamError {
  if (error?.code === 'MODERATION_REFUSED' || error?.code === 'INVALID_INPUT') return error;
  const reason = message === '' || message === 'success' ? 'no reason given' : message;
  return new UpstreamError('UNAVAILABLE', `minimax failed: ${reason}`.slice(0, 500));
}

const challenge = z.object({ challenge: z.union([z.string().max(1_000), z.number()]) });

/** The vendor checks a callback_url before using it: its challenge must be echoed within three seconds. */
export function answerChallenge({ body }: ProviderWebhook): JsonObject | null {
  let json: unknown;
  try {
    json = JSON.parse(body.toString('utf8'));
  } catch {
    return null; // not a challenge
  }
  return challenge.safeParse(json).data ?? null;
}

/** A path with its query. Keys of older accounts need their group id. */
export function buildPath(
  connection: Connection,
  path: string,
  query: Readonly<Record<string, string>> = {},
): string {
  const { groupId } = connection.credentials;
  const parameters = new URLSearchParams({ ...(groupId !== undefined && { GroupId: groupId }), ...query });
  return parameters.size === 0 ? path : `${path}?${parameters.toString()}`;
}
