import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import { graphql, until } from '../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';

/** Queries that would cost more than they should: refused before anything runs, by HTTP and by WebSocket alike. */

let kiln: KilnUnderTest;
beforeAll(async () => {
  kiln = await startKiln();
});
afterAll(() => kiln.close());

const CREATE = 'createTask(taskType: "tea", prompt: "x") { id }';
const many = (count: number, of: (index: number) => string, between = ' ') =>
  Array.from({ length: count }, (_, index) => of(index)).join(between);
/** Fields of a task that lead back to itself, so that any depth is valid. */
const nested = (depth: number) => `${'events { task { '.repeat(depth / 2)} id ${'} } '.repeat(depth / 2)}`;

/** What each limit stops, as mutations where there is one: what had run would be there to be counted. */
const HOSTILE: readonly (readonly [string, string])[] = [
  ['a depth of 50', `mutation { createTask(taskType: "tea", prompt: "x") { ${nested(50)} } }`],
  ['1,000 aliases', `mutation { ${many(1_000, (index) => `a${index}: ${CREATE}`)} }`],
  ['50 root fields', `mutation { ${many(50, (index) => `a${index % 5}: ${CREATE}`)} }`],
  ['100 operations', many(100, (index) => `mutation m${index} { ${CREATE} }`)],
  [
    'an introspection bomb',
    `{ __schema { types { ${'fields { type { '.repeat(10)} name ${'} } '.repeat(10)} } } }`,
  ],
  [
    'fragments that double 30 times',
    `mutation { createTask(taskType: "tea", prompt: "x") { ...f0 } } ` +
      `${many(30, (index) => `fragment f${index} on Task { ...f${index + 1} ...f${index + 1} }`)} fragment f30 on Task { id }`,
  ],
  [
    'fragments in a circle',
    `mutation { createTask(taskType: "tea", prompt: "x") { ...a } } fragment a on Task { ...b } fragment b on Task { ...a }`,
  ],
  ['a page of a million', '{ tasks(first: 1000000) { edges { node { events(first: 1000) { seq } } } } }'],
  ['100,000 tokens', `{ ${'health { service } '.repeat(25_000)} }`],
  ['100,000 directives', `{ health ${'@skip(if: true) '.repeat(20_000)} { service } }`],
  ['no GraphQL at all', '{ health { service }'],
  ['nothing', ' '],
];
/** One megabyte: over HTTP the body, over WebSocket the message is too large already. */
const MEGABYTE = `{ ${'health { service } '.repeat(56_000)} }`;

async function post(
  body: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; code: unknown; message: string }> {
  const answer = await fetch(`${kiln.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  const { errors } = (await answer.json()) as {
    errors?: { message: string; extensions?: { code?: string } }[];
  };
  return { status: answer.status, code: errors?.[0]?.extensions?.code, message: errors?.[0]?.message ?? '' };
}

/** Runs an operation over a WebSocket of its own; answers its error code, or how the socket was closed. */
function overWebSocket(query: string): Promise<unknown> {
  const client = createClient({
    url: `${kiln.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    lazyCloseTimeout: 0,
  });
  return new Promise((resolve) => {
    client.subscribe(
      { query },
      {
        next: (result) => resolve(result),
        error: (error) => {
          const [first] = Array.isArray(error) ? (error as { extensions: { code: string } }[]) : [];
          resolve(
            first === undefined
              ? `closed ${String((error as { code: number }).code)}`
              : first.extensions.code,
          );
        },
        complete: () => resolve('complete'),
      },
    );
  }).finally(() => void client.dispose());
}

async function taskCount(): Promise<number> {
  return (await kiln.runtime.database.pool.query('select from media.tasks')).rowCount ?? 0;
}

const REFUSALS = ['QUERY_REFUSED', 'GRAPHQL_VALIDATION_FAILED', 'GRAPHQL_PARSE_FAILED'];

describe('over HTTP', () => {
  it.each(HOSTILE)('%s is refused before execution', async (_, query) => {
    const { status, code } = await post(JSON.stringify({ query }));
    expect([status, REFUSALS]).toEqual([400, expect.arrayContaining([code])]);
    const read = new URLSearchParams({ query: query.slice(0, 8_000) });
    const byGet = await fetch(`${kiln.url}/graphql?${read.toString()}`, {
      headers: { 'apollo-require-preflight': 'true' },
    });
    expect(byGet.status).toBeGreaterThanOrEqual(400);
    expect(byGet.status).toBeLessThan(500);
    await byGet.text();
    expect(await taskCount()).toBe(0);
  });

  it('a query of 1 MB is too large, and one of 200 KB too long', async () => {
    expect(await post(JSON.stringify({ query: MEGABYTE }))).toMatchObject({
      status: 413,
      code: 'PAYLOAD_TOO_LARGE',
    });
    expect(await post(JSON.stringify({ query: MEGABYTE.slice(0, 200_000) }))).toMatchObject({
      status: 400,
      code: 'QUERY_REFUSED',
    });
  });

  it('a batch of 100 operations is refused, also as an upload', async () => {
    const batch = Array.from({ length: 100 }, () => ({ query: `mutation { ${CREATE} }` }));
    expect(await post(JSON.stringify(batch))).toMatchObject({ status: 400, code: 'QUERY_REFUSED' });
    const form = new FormData();
    form.set('operations', JSON.stringify(batch));
    form.set('map', '{}');
    const answer = await fetch(`${kiln.url}/graphql`, {
      method: 'POST',
      headers: { 'apollo-require-preflight': 'true' },
      body: form,
    });
    expect(answer.status).toBe(400);
    await answer.text();
    expect(await taskCount()).toBe(0);
  });

  it.each([
    ['a text', '"x"'],
    ['null', 'null'],
    ['half of it', '{"query":'],
    ['no query', '{}'],
    ['a query that is a number', '{"query":1}'],
    ['variables that are a list', '{"query":"{ health { service } }","variables":[1]}'],
    ['an operation name that is an object', '{"query":"{ health { service } }","operationName":{}}'],
    ['an operation that is not there', '{"query":"{ health { service } }","operationName":"other"}'],
    [
      'a depth of 20,000',
      `{"query":"{ health { service } }","variables":{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`,
    ],
  ])('a body of %s is explained', async (_, body) => {
    const { status, message } = await post(body);
    expect([200, 400]).toContain(status);
    expect(status === 200 || message.length > 5).toBe(true);
  });

  it('a subscription that is simply posted gets to know which transports there are', async () => {
    const query = 'subscription { taskProgress(id: "x") { seq } }';
    const { status, code, message } = await post(JSON.stringify({ query }));
    expect([status, code]).toEqual([406, 'BAD_REQUEST']);
    for (const word of ['WebSocket', 'text/event-stream', 'multipart/mixed;subscriptionSpec=1.0']) {
      expect(message).toContain(word);
    }
  });

  it('a form of another site can neither read nor change anything', async () => {
    const body = JSON.stringify({ query: `mutation { ${CREATE} }` });
    expect((await post(body, { 'content-type': 'text/plain' })).status).toBeGreaterThanOrEqual(400);
    const read = await fetch(`${kiln.url}/graphql?query=${encodeURIComponent(`mutation { ${CREATE} }`)}`, {
      headers: { 'apollo-require-preflight': 'true' },
    });
    expect(read.status).toBe(405);
    await read.text();
    expect(await taskCount()).toBe(0);
  });
});

describe('over WebSocket', () => {
  it.each(HOSTILE)('%s is refused before execution', async (_, query) => {
    const outcome = await overWebSocket(query);
    // A text without any operation is against the protocol itself, which closes the socket.
    expect([...REFUSALS, 'BAD_REQUEST', 'closed 4400']).toContain(outcome);
    expect(await taskCount()).toBe(0);
  });

  it('a query of 1 MB closes the socket that sent it, and no other', async () => {
    expect(await overWebSocket(MEGABYTE)).toMatch(/^closed (1009|4400|1006)$/);
    expect(await overWebSocket('{ health { service } }')).toEqual({ data: { health: { service: 'media' } } });
  });

  it.each([
    '\u0000',
    'x'.repeat(10_000),
    '[]',
    '{"type":"subscribe","id":"1"}',
    '{"type":"connection_init","payload":7}',
  ])('what is not the protocol closes the socket: %j', async (message) => {
    const socket = new WebSocket(`${kiln.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    socket.on('open', () => socket.send(message));
    const code = await new Promise((resolve) => socket.once('close', resolve));
    expect([4400, 4401]).toContain(code);
  });
});

it('the server goes on, and has let go of every socket', async () => {
  expect((await graphql(kiln.url, '{ health { service } }')).data).toEqual({ health: { service: 'media' } });
  await until(
    async () => kiln.server.openStreams(),
    (open) => open === 0,
  );
});
