import { randomUUID } from 'node:crypto';

import { json } from '../../http/answer.ts';
import type { Answer } from '../../http/answer.ts';

/** The vendor's result codes and the HTTP status that each comes with (General Information, error codes). */
const STATUS = {
  0: 200,
  1000: 401,
  1001: 401,
  1002: 401,
  1003: 401,
  1004: 401,
  1102: 429,
  1201: 400,
  1203: 404,
  1301: 400,
  1302: 429,
  1303: 429,
  5000: 500,
} as const;

/** Codes that this stand-in answers. */
export type KlingCode = keyof typeof STATUS;

/** An error, with an HTTP status and a code in the body. */
export function refusal(code: Exclude<KlingCode, 0>, message: string): Answer {
  return json({ code, message, request_id: randomUUID() }, STATUS[code]);
}

/** An answer with data. */
export function success(data: unknown): Answer {
  return json({ code: 0, message: 'SUCCEED', request_id: randomUUID(), data });
}
