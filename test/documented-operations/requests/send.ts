import { toKey, type Documented } from '../documents/operation.ts';

/** Requests of the documented operations: values by documented name, and how they travel. */

/** A part of the path as it is, without encoding. */
interface RawSegment {
  readonly raw: string;
}

type Text = string | number | boolean;

/** One request. */
export interface Sent {
  /** Parts of the path and of the query; of a list each value, undefined is left out. */
  readonly params: Readonly<Record<string, Text | RawSegment | readonly Text[] | undefined>>;
  /** Fields of the body, the body as it is, or null for none. */
  readonly body: Readonly<Record<string, unknown>> | string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** What else is in the query. */
  readonly extraQuery?: URLSearchParams;
}

/** An answer, its redirect not followed. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is the operation's; tests assert it
  readonly body: any;
}

/** Milliseconds without an answer that mean stuck: on a loaded machine any operation that makes something takes most of a minute. */
const PATIENCE_MS = 170_000;

/** Sends a request to an operation of the server at this address. */
export async function send(url: string, operation: Documented, sent: Sent): Promise<Answer> {
  const body = makeBody(operation, sent.body);
  const isJson = operation.body?.type === 'application/json' && body !== null;
  const answer = await fetch(`${url}${toTarget(operation, sent)}`, {
    method: operation.method,
    headers: { ...(isJson ? { 'content-type': 'application/json' } : {}), ...sent.headers },
    body,
    redirect: 'manual',
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: parseJson(operation, text) };
}

function parseJson(operation: Documented, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${toKey(operation)} answers no JSON: ${text.slice(0, 200)}`, { cause: error });
  }
}

function toTarget({ path, params }: Documented, { params: values, extraQuery }: Sent): string {
  const query = new URLSearchParams(extraQuery);
  let target = path;
  for (const { name, in: place } of params) {
    const value = values[name];
    if (value === undefined) continue;
    if (place === 'path') target = target.replace(`{${name}}`, toSegment(value as Text | RawSegment));
    else for (const text of [value].flat() as Text[]) query.append(name, String(text));
  }
  return query.size === 0 ? target : `${target}?${query.toString()}`;
}

function toSegment(value: Text | RawSegment): string {
  return typeof value === 'object' ? value.raw : encodeURIComponent(String(value));
}

function makeBody(
  { body: documented }: Documented,
  body: Sent['body'],
): FormData | URLSearchParams | string | null {
  if (body === null || typeof body === 'string') return body;
  if (documented?.type === 'application/json') return JSON.stringify(body);
  const entries = Object.entries(body).filter(([, value]) => value !== undefined);
  // A file part can only travel in a multipart form.
  const isPlain = entries.every(([, value]) => !(value instanceof Blob));
  const form =
    documented?.type === 'application/x-www-form-urlencoded' && isPlain
      ? new URLSearchParams()
      : new FormData();
  for (const [name, value] of entries) {
    if (value instanceof Blob && form instanceof FormData) form.append(name, value);
    else form.append(name, String(value));
  }
  return form;
}
