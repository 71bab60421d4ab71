import { json } from '../../http/answer.ts';
import type { Answer } from '../../http/answer.ts';
import type { Job } from '../../jobs/job.ts';

/**
 * Everything that this wire says itself comes with HTTP 200; `base_resp.status_code` tells success from refusal
 * (platform.minimax.io/docs/api-reference/errorcode). Only what stands before it (the fault control: 429, 500) is HTTP.
 */
export function success(body: object): Answer {
  return json({ ...body, base_resp: { status_code: 0, status_msg: 'success' } });
}

/** What this stand-in refuses with, and the vendor's message for it. */
const MESSAGES = {
  1000: 'unknown error',
  1002: 'rate limit',
  1004: "login fail: Please carry the API secret key in the 'Authorization' field of the request header",
  1026: 'input new_sensitive',
  1027: 'output new_sensitive',
  2013: 'invalid params',
  2039: 'voice clone voice id duplicate',
  2049: 'invalid api key',
  2054: 'voice id not exist',
} as const;

/** Codes that this stand-in answers. */
export type MinimaxCode = keyof typeof MESSAGES;

/** A refusal in the wire's words: HTTP 200 all the same. */
export function refusal(code: MinimaxCode, detail = '', more: object = {}): Answer {
  const message = detail === '' ? MESSAGES[code] : `${MESSAGES[code]}, ${detail}`;
  return json({ ...more, base_resp: { status_code: code, status_msg: message } });
}

/** The words of a job that was refused half-way for its content. */
export const MODERATED = 'output new_sensitive';
/** The words of one that failed. */
export const FAILED = 'unknown error';

/** What a call answers whose work has ended without a result. What the studio refuses is the caller's to change. */
export function refusalOf(job: Job): Answer {
  if (job.failure === MODERATED) return refusal(1026);
  const [, reason] = /^refused: ([^]*)$/.exec(job.failure ?? '') ?? [];
  return reason === undefined ? refusal(1000) : refusal(2013, reason);
}
