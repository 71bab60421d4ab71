import { empty, json, text } from '../../http/answer.ts';
import type { Answer } from '../../http/answer.ts';

/** The server's own exceptions, and those of the framework behind it. */

/** What the server answers for an exception of its own: HTTPException has a detail, the others a text. */
export function exception(
  status: number,
  {
    error,
    detail = '',
    errors,
  }: { readonly error: string; readonly detail?: string; readonly errors?: string },
): Answer {
  return json({ error, detail, body: '', errors: errors ?? `${status}: ${detail}` }, status);
}

/** A refusal by the server itself. */
export function httpException(status: number, detail: string): Answer {
  return exception(status, { error: 'HTTPException', detail });
}

/** What the framework answers without asking the server. */
export function framework(status: 404 | 413 | 429 | 500, message: string): Answer {
  if (status === 500) return text('Internal Server Error', 500);
  return status === 413 ? empty(413) : json({ detail: status === 404 ? 'Not Found' : message }, status);
}
