import { z } from 'zod';

import { UpstreamError } from '../../domain/failure.ts';
import { errorOfStatus, retryAfterOf, type ExchangeAnswer } from '../shared/exchange.ts';
import { createReader, text } from '../shared/reader.ts';

/**
 * The bodies of the MiniMax wire, read leniently, and its result codes: HTTP 200 nearly always, what happened is in
 * `base_resp.status_code` (platform.minimax.io/docs/api-reference/errorcode). Newer paths answer real HTTP statuses with
 * `{ type: 'error', error: { message: '... (1008)' } }`: the same code, at the end of the message.
 */

/** How minimax's answers are read. */
export const { read, unreadable } = createReader('minimax');

const baseResp = z.object({ status_code: z.coerce.number(), status_msg: text });
const spoken = z.object({
  base_resp: baseResp.nullish().catch(null),
  error: z.object({ message: text }).nullish().catch(null),
});

/** What the caller of the wire knows of its own request, so that a refusal names the field at fault. */
export interface Asked {
  /** The field whose content may be refused: prompt, text, sample. */
  readonly content: string;
  /** What it means when the wire calls the parameters wrong: the request was, or the id in it is not known any more. */
  readonly invalid: 'INVALID_INPUT' | 'LOST';
}

/** Throws what the vendor says is wrong; returns for a success. */
export function throwRefusal(answer: ExchangeAnswer, asked: Asked): void {
  const said = spoken.safeParse(answer.json).data;
  const message = said?.base_resp?.status_msg ?? said?.error?.message ?? '';
  const code = said?.base_resp?.status_code ?? codeAtEnd(message);
  const error = code === 0 ? null : errorOfCode(code, { message, asked, answer });
  if (error !== null) throw error;
  const byStatus = errorOfStatus(answer, `minimax: ${message || `HTTP ${answer.status}`}`.slice(0, 500));
  if (byStatus !== undefined) throw byStatus;
  // A success always carries its code: without one this is somebody else's answer.
  if (code === null) throw unreadable(new Error('no base_resp'));
}

function codeAtEnd(message: string): number | null {
  const match = /\((\d{4,5})\)\s*$/.exec(message);
  return match === null ? null : Number(match[1]);
}

const TRY_LATER = new Set([1002, 1039, 1041, 2045, 2056]);
const NOT_US = new Set([1004, 2038, 2049]);
const REFUSED = new Set([1026, 1027]);
/** Codes of a wrong input, and the field that they are always about. */
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

interface Said {
  readonly message: string;
  readonly asked: Asked;
  readonly answer: ExchangeAnswer;
}

/** What a code means; null for none. Codes that nobody knows are the vendor's own trouble. */
function errorOfCode(code: number | null, { message, asked, answer }: Said): UpstreamError | null {
  if (code === null) return null;
  const said = `minimax: ${message || 'no reason given'} (${code})`.slice(0, 500);
  if (TRY_LATER.has(code)) {
    return new UpstreamError('RATE_LIMITED', said, { retryAfter: retryAfterOf(answer) });
  }
  if (NOT_US.has(code)) {
    return new UpstreamError('UNAVAILABLE', 'minimax refused our credentials');
  }
  if (code === 1008) {
    return new UpstreamError('OUT_OF_CREDIT', 'minimax: out of credit');
  }
  if (REFUSED.has(code)) {
    const refusal = `minimax refuses this content: ${message}; change it`.slice(0, 500);
    return new UpstreamError('MODERATION_REFUSED', refusal, { field: asked.content });
  }
  const field = WRONG_INPUT.get(code);
  if (field !== undefined) {
    if (asked.invalid === 'LOST') {
      return new UpstreamError('LOST', 'minimax does not know this any more');
    }
    return new UpstreamError('INVALID_INPUT', said, { ...(field !== null && { field }) });
  }
  return new UpstreamError('UNAVAILABLE', said, { startUnknown: true, retryAfter: retryAfterOf(answer) });
}

/** The failure of a video that ended as `Fail`: the code says whether its content was the reason. */
export function failureOfVideo(answer: ExchangeAnswer): UpstreamError {
  const said = spoken.safeParse(answer.json).data?.base_resp;
  const message = said?.status_msg ?? '';
  const asked: Asked = { content: 'prompt', invalid: 'INVALID_INPUT' };
  const error = said?.status_code ? errorOfCode(said.status_code, { message, asked, answer }) : null;
  if (error?.code === 'MODERATION_REFUSED' || error?.code === 'INVALID_INPUT') return error;
  const reason = message === '' || message === 'success' ? 'no reason given' : message;
  return new UpstreamError('UNAVAILABLE', `minimax failed: ${reason}`.slice(0, 500));
}
