import { expect, it } from 'vitest';

import { runInSpan, type Span } from '../tracing/span.ts';
import type { HttpClient, HttpRequest } from './http-client.ts';
import { tracedHttp } from './traced-http.ts';

/** A span that notes its children and what they are told. */
function recorded(seen: unknown[], traceparent = 'of the work'): Span {
  return {
    traceparent,
    child: (name, { kind, attributes } = {}) => {
      seen.push({ name, kind, attributes });
      return recorded(seen, 'of the call');
    },
    rename: () => undefined,
    set: (attributes) => void seen.push(attributes),
    fail: (error) => void seen.push({ failed: (error as Error).message }),
    end: () => undefined,
  };
}

/** A client that notes requests, and what it says of them. */
function client(status = 204) {
  const requests: HttpRequest[] = [];
  const answer = async (request: HttpRequest): Promise<never> => {
    requests.push(request);
    if (status === 0) throw new Error('cut');
    return { status } as never;
  };
  const http: HttpClient = { request: answer, download: answer, close: async () => undefined };
  return { requests, http: tracedHttp(http) };
}

const call = {
  method: 'GET',
  url: 'https://example.org:8443/secret?key=1',
  timeoutMs: 1,
  maxBytes: 1,
} as const;

it.each(['request', 'download'] as const)('a %s of traced work is a span without its path', async (kind) => {
  const seen: unknown[] = [];
  const { requests, http } = client();
  const answer = await runInSpan(recorded(seen), () => http[kind]({ ...call, headers: { a: 'b' } }));
  expect(answer.status).toBe(204);
  const attributes = { 'http.request.method': 'GET', 'server.address': 'example.org:8443' };
  expect(seen).toEqual([
    { name: 'GET example.org:8443', kind: 'client', attributes },
    { 'http.response.status_code': 204 },
  ]);
  expect(requests).toEqual([{ ...call, headers: { a: 'b', traceparent: 'of the call' } }]);
});

it('a call that fails, and one of no address, are spans too', async () => {
  const seen: unknown[] = [];
  const { http } = client(0);
  const failing = runInSpan(recorded(seen), () => http.request({ ...call, url: 'nowhere' }));
  await expect(failing).rejects.toThrow('cut');
  expect(seen).toMatchObject([{ name: 'GET other' }, { failed: 'cut' }]);
});

it('a call of work that is not traced goes out as it is', async () => {
  const { requests, http } = client();
  await http.request(call);
  expect(requests).toEqual([call]);
});
