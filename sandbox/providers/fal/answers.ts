import { json } from '../../http/answer.ts';
import type { Answer } from '../../http/answer.ts';

/** Errors of a model are a list of problems; errors of the platform are a sentence with an `error_type`. */

/** The failures in the journal: refused for its content, and failed. */
export const MODERATED =
  'The content could not be processed because it contained material flagged by a content checker.';

/** The error of a failed model. */
export const FAILED = 'Internal Server Error';

/** A model's error for invalid input. */
export function invalid(loc: readonly (string | number)[], msg: string, type: string): Answer {
  const url = `https://docs.fal.ai/errors#${type}`;
  return json({ detail: [{ loc: ['body', ...loc], msg, type, url }] }, 422, { 'x-fal-retryable': 'false' });
}

/** The type of a refusal that has no other. */
const TYPES: Readonly<Record<number, string>> = {
  400: 'bad_request',
  429: 'rate_limit_exceeded',
  500: 'internal_error',
  504: 'request_timeout',
};

/** A refusal or failure of the platform. */
export function platformError(status: number, detail: string, type?: string): Answer {
  const named = type ?? TYPES[status];
  const isNamed = named !== undefined;
  const body = { detail, ...(isNamed && { error_type: named }) };
  return json(body, status, isNamed ? { 'x-fal-error-type': named } : {});
}
