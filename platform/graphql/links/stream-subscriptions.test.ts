import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

import type { ExecutionResult } from 'graphql';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import type { Endpoint } from '../../http/endpoints/endpoint-health.ts';
import { createEndpoints, type Endpoints } from '../../http/endpoints/endpoints.ts';
import { silentLogger } from '../../process/logger.ts';
import { isStream } from '../operations/streams.ts';
import { createContext } from '../subgraph-server/two-subgraphs.fixture.ts';
import {
  createStreamSubscriptions,
  type StreamProtocol,
  type StreamSubscriptionsOptions,
} from './stream-subscriptions.ts';

/** A subgraph that answers a subscription as the test says. */
let answer: (response: ServerResponse, request: IncomingMessage) => void | Promise<void>;
const server = createServer((request, response) => void answer(response, request));
let url: string;
const cleanups: (() => Promise<void>)[] = [];

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Subscribes, and gives the results as they are told, the last one first said with `end`. */
async function subscribe(
  protocol: StreamProtocol,
  signal = new AbortController().signal,
  options: Partial<StreamSubscriptionsOptions> = {},
) {
  const logger = silentLogger();
  const endpoints = createEndpoints({ urls: [url], logger });
  const subscriptions = createStreamSubscriptions({
    name: 'shop',
    endpoints,
    protocol,
    headersFor: () => ({ 'x-shop': 'yes' }),
    timeoutMs: 5_000,
    maxMessageBytes: 200,
    logger,
    ...options,
  });
  cleanups.push(() => subscriptions.close());
  const request = {
    query: 'subscription { a }',
    variables: { v: 1 },
    context: createContext('usr_1', signal),
  };
  const stream = await subscriptions.subscribe(request);
  if (!isStream<ExecutionResult>(stream)) throw new Error('no stream');
  return stream;
}

async function collect(protocol: StreamProtocol, type: string, parts: readonly (string | Buffer)[]) {
  answer = (response) => {
    response.writeHead(200, { 'content-type': type });
    // Each by itself, as slow networks cut them.
    for (const part of parts) response.write(part);
    response.end();
  };
  const results = await Array.fromAsync(await subscribe(protocol));
  return results.map(({ data, errors }) =>
    errors === undefined ? data : `${String(errors[0]?.extensions['code'])}: ${errors[0]?.message}`,
  );
}

const GONE = 'UNAVAILABLE: subgraph "shop" is gone';
const SSE = 'text/event-stream; charset=utf-8';
const MULTIPART = 'multipart/mixed; boundary="graphql"; subscriptionSpec=1.0';
const part = (said: unknown) =>
  `\r\n--graphql\r\ncontent-type: application/json\r\n\r\n${JSON.stringify(said)}`;
const failed = { errors: [{ message: 'no', extensions: { code: 'FORBIDDEN' } }] };

describe('server-sent events of a foreign subgraph', () => {
  it('are results until the last, each also without data', async () => {
    const text = 'event: next\ndata: {"data":{"a":"ä"}}\n\n: awake\n\nevent: next\ndata: {"errors":null}\n\n';
    const bytes = Buffer.from(`${text}event: complete\ndata:\n\n`);
    const cutInside = bytes.indexOf('ä') + 1;
    const pieces = [bytes.subarray(0, cutInside), bytes.subarray(cutInside)];
    expect(await collect('sse', SSE, pieces)).toEqual([{ a: 'ä' }, null]);
  });

  it('are over with an error that is said, also as a list, and with one where they break off', async () => {
    const error = (said: unknown) => [`event: error\ndata: ${JSON.stringify(said)}\n\n`];
    expect(await collect('sse', SSE, error(failed))).toEqual(['FORBIDDEN: no']);
    expect(await collect('sse', SSE, error(failed.errors))).toEqual(['FORBIDDEN: no']);
    expect(await collect('sse', SSE, ['event: next\ndata: no JSON\n\nevent: next\ndata: 7\n\n'])).toEqual([
      GONE,
    ]);
  });

  it('may have as many as they like, none of them too large', async () => {
    const small = `event: next\ndata: {"data":{"a":"${'x'.repeat(100)}"}}\n\n`;
    expect(await collect('sse', SSE, [small, small, small, 'event: complete\ndata:\n\n'])).toHaveLength(3);
    expect(await collect('sse', SSE, [`data: {"data":{"a":"${'x'.repeat(250)}`])).toEqual([GONE]);
  });
});

it('an event that grows without an end is given up, also after others', async () => {
  const opened = Promise.withResolvers<ServerResponse>();
  answer = (response) => {
    response.writeHead(200, { 'content-type': SSE });
    response.write(`event: next\ndata: {"data":{"a":1}}\n\ndata: ${'x'.repeat(150)}`);
    opened.resolve(response);
  };
  const stream = await subscribe('sse');
  expect((await stream.next()).value).toEqual({ data: { a: 1 } });
  const response = await opened.promise;
  response.write('x'.repeat(60));
  const { value } = await stream.next();
  expect(value).toMatchObject({ errors: [{ extensions: { code: 'UNAVAILABLE' } }] });
  response.end();
});

describe('multipart events of a foreign subgraph', () => {
  it('are results until the last part, without those that only keep awake', async () => {
    const text = `${part({})}${part({ payload: { data: { a: 1 } }, errors: null })}${part({ payload: null })}`;
    const whole = `${text}${part({ payload: {} })}\r\n--graphql--`;
    expect(await collect('multipart', MULTIPART, [whole])).toEqual([{ a: 1 }, null]);
    expect(await collect('multipart', MULTIPART, whole.match(/[^]{1,7}/g) ?? [])).toEqual([{ a: 1 }, null]);
    const other = whole.replaceAll('--graphql', '---');
    expect(await collect('multipart', 'multipart/mixed', [other])).toEqual([{ a: 1 }, null]);
  });

  it('may have the boundary in what they say', async () => {
    const said = { payload: { data: { a: 'run it with --graphql, or --graphql--' } } };
    const whole = `${part(said)}${part({ payload: { data: { a: 2 } } })}\r\n--graphql--\r\n`;
    for (const parts of [[whole], whole.match(/[^]{1,7}/g) ?? []])
      expect(await collect('multipart', MULTIPART, parts)).toEqual([said.payload.data, { a: 2 }]);
  });

  it('are over with an error that is said, and with one where they break off or are too large', async () => {
    expect(await collect('multipart', MULTIPART, [part(failed), part({})])).toEqual(['FORBIDDEN: no']);
    expect(await collect('multipart', MULTIPART, [part({ payload: { data: {} } }), part({})])).toEqual([
      {},
      GONE,
    ]);
    const large = part({ payload: { data: { a: 'x'.repeat(250) } } });
    expect(await collect('multipart', MULTIPART, [large])).toEqual([GONE]);
  });
});

describe('a subscription over HTTP', () => {
  it('asks with what the subgraph needs to know', async () => {
    let seen: unknown;
    answer = async (response, request) => {
      const { accept, 'content-type': type, 'x-shop': own } = request.headers;
      seen = { accept, type, own, method: request.method, url: request.url, body: await json(request) };
      response.writeHead(200, { 'content-type': SSE }).end('event: complete\ndata:\n\n');
    };
    expect(await Array.fromAsync(await subscribe('sse'))).toEqual([]);
    expect(seen).toEqual({
      accept: 'text/event-stream',
      type: 'application/json',
      own: 'yes',
      method: 'POST',
      url: '/graphql',
      body: { query: 'subscription { a }', variables: { v: 1 } },
    });
  });

  it('is refused by the errors of a plain answer, and by one that is neither', async () => {
    const json = 'application/json';
    expect(await collect('multipart', json, [JSON.stringify(failed)])).toEqual(['FORBIDDEN: no']);
    expect(await collect('sse', json, ['{"data":{"a":1}}'])).toEqual([GONE]);
    const large = { errors: [{ message: 'x'.repeat(250) }] };
    expect(await collect('sse', json, [JSON.stringify(large)])).toEqual([GONE]);
  });

  it('that is refused is no subgraph that was lost', async () => {
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(failed));
    };
    const lines: string[] = [];
    const logger = { ...silentLogger(), warn: (_: unknown, line?: string) => void lines.push(line ?? '') };
    expect(await Array.fromAsync(await subscribe('sse', undefined, { logger }))).toHaveLength(1);
    // Its end is heard after that of its reader.
    await new Promise((resolve) => setImmediate(resolve));
    expect(lines).toEqual([]);
  });

  it('is left at the subgraph when its reader leaves or its caller is gone, without a last word', async () => {
    const closed: Promise<unknown>[] = [];
    answer = (response) => {
      response.writeHead(200, { 'content-type': SSE });
      response.write(`event: next\ndata: {"data":{"a":1}}\n\ndata: ${'x'.repeat(150)}`);
      closed.push(once(response, 'close'));
    };
    const read = await subscribe('sse');
    expect(await read.next()).toMatchObject({ value: { data: { a: 1 } } });
    await read.return?.();
    const hangUp = new AbortController();
    const left = await subscribe('multipart', hangUp.signal);
    await expect.poll(() => closed.length).toBe(2);
    await left.next();
    const next = left.next();
    hangUp.abort();
    expect((await next).done).toBe(true);
    await Promise.all(closed);
    expect((await (await subscribe('sse', AbortSignal.abort())).next()).done).toBe(true);
  });

  it('asks the next process where one can not be reached, and no other that has refused', async () => {
    let count = 0;
    answer = (response) => {
      count += 1;
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(failed));
    };
    const all = ['http://127.0.0.1:1', new URL(url).origin, new URL(url).origin].map((origin): Endpoint => ({
      origin,
      lookup: undefined,
      lost: () => new AbortController().signal,
    }));
    const failures: unknown[] = [];
    const endpoints: Partial<Endpoints> = {
      path: '/graphql',
      count: () => all.length,
      next: (tried) => all.find((one) => tried?.has(one) !== true),
      failed: ({ origin }, failure) => void failures.push([origin, failure]),
      succeeded: () => undefined,
      onGone: () => undefined,
    };
    const stream = await subscribe('sse', undefined, { endpoints: endpoints as Endpoints });
    expect(await Array.fromAsync(stream)).toMatchObject([{ errors: [{ message: 'no' }] }]);
    expect([count, failures]).toEqual([1, [['http://127.0.0.1:1', { unreachable: true }]]]);
  });

  it('is over when the subgraph is not there, or does not answer in time', async () => {
    answer = () => undefined;
    const [silent] = await Array.fromAsync(await subscribe('sse', undefined, { timeoutMs: 50 }));
    expect(silent?.errors?.[0]?.extensions['code']).toBe('UNAVAILABLE');
  });
});
