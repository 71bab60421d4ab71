import { json } from '../../http/answer.ts';
import type { Answer } from '../../http/answer.ts';

/** An error of a FastAPI service. */
export function detail(status: number, message: string): Answer {
  return json({ detail: message }, status);
}

/** A field that is wrong (HTTPValidationError). */
export function invalidField(path: readonly PropertyKey[], message: string, type = 'value_error'): Answer {
  return json({ detail: [{ type, loc: ['body', ...path], msg: message }] }, 422);
}
