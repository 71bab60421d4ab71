import { json } from '../../http/answer.ts';
import type { Answer } from '../../http/answer.ts';

/** Errors of a model are a list of problems; errors of the platform are a sentence with an `error_type`. */

/** Why a job was refused half-way for its content, and why one failed, as the journal keeps it. */
export const MODERATED =
  'The content could not be processed because it contained material flagged by a content checker.';

/** What a model says that broke. */
export const FAILED = 'Internal Server Error';

/** A model's refusal of its input. */
export function invalid(loc: readonly (string | number)[], msg: string, type: string): Answer {
  const url = `https://docs.fal.ai/errors#${type}`;
  return json({ detail: [{ loc: ['body', ...loc], msg, type, url }] }, 422, { 'x-fal-retryable': 'false' });
}

/** A refusal or failure of the platform. */
export function platformError(status: number, detail: string, type?: string): Answer {
  const named = type === undefined ? {} : { error_type: type };
  return json({ detail, ...named }, status, type === undefined ? {} : { 'x-fal-error-type': type });
}
