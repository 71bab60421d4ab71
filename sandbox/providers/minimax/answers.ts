import { json } from '../../http/answer.ts';
import type { Answer } from '../../http/answer.ts';
import type { Job } from '../../jobs/job.ts';

/**
 * This wire answers errors with HTTP 200 and `base_resp.status_code` (platform.minimax.io/docs/api-reference/errorcode).
 * Only injected faults (429, 500) use the HTTP status.
 */
export function success(body: object): Answer {
  return json({ ...body, base_resp: { status_code: 0, status_msg: 'success' } });
}

/** The vendor's error codes and messages. */
const MESSAGES = {
  1000: 'unknown error',
  1002: 'rate limit',
  1004: "login fail: Please carry the API secret key in the 'Authorization' field of the request header",
  1026: 'input new_sensitive',
  1027: 'output new_sensitive',
  2013: 'invalid params',
  2061: 'your current token plan not support model',
  2039: 'voice clone voice id duplicate',
  2049: 'invalid api key',
  2054: 'voice id not exist',
} as const;

/** Codes that this stand-in answers. */
export type MinimaxCode = keyof typeof MESSAGES;

/** An error of the wire, with HTTP 200. */
export function refusal(code: MinimaxCode, detail = '', more: object = {}): Answer {
  const message = detail === '' ? MESSAGES[code] : `${MESSAGES[code]}, ${detail}`;
  return json({ ...more, base_resp: { status_code: code, status_msg: message } });
}

/** The failure of a job that was refused half-way for its content. */
export const MODERATED = 'output new_sensitive';
/** The failure of a job that failed. */
export const FAILED = 'unknown error';

/** The error of a job without a result. An error of the studio is a fault of the request. */
export function toRefusal(job: Job): Answer {
  if (job.failure === MODERATED) return refusal(1026);
  const [, reason] = /^refused: ([^]*)$/.exec(job.failure ?? '') ?? [];
  return reason === undefined ? refusal(1000) : refusal(2013, reason);
}
