import { setTimeout as pause } from 'node:timers/promises';

/** How tests talk to a Kiln: plain fetch, as its users would. */

export interface GraphqlAnswer {
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is the query's; tests assert it
  readonly data: any;
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions: Readonly<Record<string, unknown>>;
    readonly path?: readonly unknown[];
  }[];
}

/** Runs a GraphQL operation over HTTP. */
export async function graphql(
  url: string,
  query: string,
  variables: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<GraphqlAnswer> {
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query, variables }),
  });
  return (await answer.json()) as GraphqlAnswer;
}

export interface RestAnswer {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- the envelope's data differs per operation; tests assert it
  readonly body: any;
}

/** Calls a REST path; an object body goes as JSON, anything else as it is. */
export async function rest(
  url: string,
  method: string,
  path: string,
  body?: object | FormData | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<RestAnswer> {
  const isJson = typeof body === 'object' && !(body instanceof FormData);
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { ...(isJson ? { 'content-type': 'application/json' } : {}), ...headers },
    ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : body }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text === '' ? undefined : JSON.parse(text) };
}

/** POSTs a form; a list sends its field once for each of its members. */
export function postForm(
  url: string,
  path: string,
  fields: Readonly<Record<string, string | Blob | readonly string[]>> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<RestAnswer> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    const values = typeof value === 'string' || value instanceof Blob ? [value] : value;
    for (const one of values) form.append(name, one);
  }
  return rest(url, 'POST', path, form, headers);
}

/** Most milliseconds between two questions of `until`. */
const MAX_PAUSE_MS = 250;

/**
 * Asks until the answer satisfies; fails with the last answer when it does not within the time. It asks each `pauseMs` at
 * first, less often the longer it waits: each question is work for who answers it.
 */
export async function until<Value>(
  ask: () => Promise<Value>,
  satisfies: (value: Value) => boolean,
  timeoutMs = 100_000,
  pauseMs = 50,
): Promise<Value> {
  const start = Date.now();
  for (;;) {
    const value = await ask();
    if (satisfies(value)) return value;
    const waited = Date.now() - start;
    if (waited > timeoutMs) throw new Error(`not within ${timeoutMs} ms; last: ${JSON.stringify(value)}`);
    await pause(Math.max(pauseMs, Math.min(waited / 5, MAX_PAUSE_MS)));
  }
}

/** Waits for the end of a task over REST and answers the last status reply. */
export function taskEnd(url: string, taskId: string, timeoutMs?: number): Promise<RestAnswer> {
  return until(
    () => rest(url, 'GET', `/api/task/status/${taskId}`),
    ({ body }) => typeof body.status === 'boolean',
    timeoutMs,
  );
}
