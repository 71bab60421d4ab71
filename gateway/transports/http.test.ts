import { createHash } from 'node:crypto';

import { getIntrospectionQuery, GraphQLError } from 'graphql';
import { afterEach, describe, expect, test } from 'vitest';

import { noteAnswered } from '../../platform/graphql/operations/answers.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { createRateLimiter } from '../limits/rate-limit.ts';
import { readManifest, createPersistedOperations } from '../persisted/persisted-operations.ts';
import { findUnavailable } from '../request/errors.ts';
import { type TestGateway, post, startTestGateway, until } from '../server/server-under-test.fixture.ts';
import { HOSTILE } from './hostile-queries.fixture.ts';

let gateway: TestGateway | undefined;
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
});

describe('queries over HTTP', () => {
  test('answers from both subgraphs', async () => {
    gateway = await startTestGateway();
    const { status, body } = await post(gateway, {
      query: 'query ($n: Int!) { tasks(first: $n) { edges { node { id template } } } version }',
      variables: { n: 2 },
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      data: {
        tasks: {
          edges: [
            { node: { id: 't0', template: 'template of t0' } },
            { node: { id: 't1', template: 'template of t1' } },
          ],
        },
        version: '1',
      },
    });
  });

  test('reads JSON of every type, also where it is too long for the fast path', async () => {
    gateway = await startTestGateway();
    for (const type of ['application/json', 'application/json; charset=utf-8', 'application/graphql+json']) {
      for (const padding of ['', ' '.repeat(70_000)]) {
        const { body } = await post(gateway, { query: `{ hello }${padding}` }, { 'content-type': type });
        expect(body).toEqual({ data: { hello: expect.any(String) } });
      }
    }
    const { body } = await post(gateway, { query: '{ hello }' }, { 'content-type': 'application/yaml' });
    expect(body.data).toBeUndefined();
  });

  test('answers JSON of the type that its client understands', async () => {
    gateway = await startTestGateway();
    const [json, graphql] = ['application/json', 'application/graphql-response+json'];
    const parts = 'multipart/mixed;deferSpec=20220824';
    const readType = async (accept: string) => {
      const { headers } = await post(gateway as TestGateway, { query: '{ hello }' }, { accept });
      return headers.get('content-type');
    };
    for (const accept of ['*/*', json, `${parts}, ${json}`])
      expect([accept, await readType(accept)]).toEqual([accept, `${json}; charset=utf-8`]);
    for (const accept of [`${graphql}, ${json}`, `${parts}, ${graphql}`])
      expect([accept, await readType(accept)]).toEqual([accept, `${graphql}; charset=utf-8`]);
  });

  test.each([
    ['the fast path', 'application/json'],
    ['the Express pipeline', 'application/json;q=0.9'],
  ])('says on %s when to come again, also where there is data', async (_way, accept) => {
    gateway = await startTestGateway();
    for (const query of [
      '{ busy }',
      '{ hello busy }',
      'query ($n: Int) { hello busy tasks(first: $n) { edges { node { id } } } }',
    ]) {
      const { status, headers } = await post(gateway, { query }, { accept });
      expect([status, headers.get('retry-after')]).toEqual([200, '7']);
    }
    expect((await post(gateway, { query: '{ refuse }' }, { accept })).headers.get('retry-after')).toBeNull();
  });

  test.each(HOSTILE)('refuses too much %s before execution', async (limit, query) => {
    gateway = await startTestGateway();
    const { status, body } = await post(gateway, {
      query,
      operationName: limit === 'operations' ? 'q0' : undefined,
    });
    expect(status).toBe(400);
    expect(body.errors?.[0]?.extensions).toMatchObject({ code: 'QUERY_REFUSED', limit });
    expect(body).not.toHaveProperty('data');
    expect(gateway.world.starts).toBe(0);
  });

  test('refuses a body of more than 1 MB, and a batch of operations', async () => {
    gateway = await startTestGateway();
    const big = await post(gateway, { query: `{ hello } # ${'x'.repeat(1_100_000)}` });
    expect(big.status).toBe(413);
    expect(big.body.errors?.[0]?.extensions).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    const batch = await post(
      gateway,
      Array.from({ length: 100 }, () => ({ query: 'mutation { start }' })),
    );
    expect(batch.status).toBe(400);
    expect(batch.body.errors?.[0]?.extensions).toMatchObject({
      code: 'QUERY_REFUSED',
      limit: 'batch',
      found: 100,
    });
    expect(gateway.world.starts).toBe(0);
  });

  test.each([
    [undefined, 'name the operation: send operationName, as the document has none or several'],
    ['C', 'the document has no operation named "C"'],
  ])('says what is wrong with an operation named %s', async (operationName, message) => {
    gateway = await startTestGateway();
    const query = 'query A { hello } query B { hello }';
    const { status, body } = await post(gateway, { query, operationName });
    expect([status, body.errors?.[0]?.message]).toEqual([400, message]);
  });

  test('lets the standard introspection query pass in development only', async () => {
    gateway = await startTestGateway();
    const query = getIntrospectionQuery({ inputValueDeprecation: true, specifiedByUrl: true });
    expect((await post(gateway, { query })).body.data).toHaveProperty('__schema');
    await gateway.close();
    gateway = await startTestGateway({ production: true });
    const { status, body } = await post(gateway, { query });
    expect(status).toBe(400);
    expect(body.errors?.[0]?.extensions).toEqual({ code: 'GRAPHQL_VALIDATION_FAILED' });
    expect((await post(gateway, { query: '{ __typename hello }' })).body.data).toEqual({
      __typename: 'Query',
      hello: 'hi',
    });
  });

  test('keeps the codes of known errors and masks unknown ones under a trace id', async () => {
    gateway = await startTestGateway();
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const { body, headers } = await post(gateway, { query: '{ refuse fail hello }' }, { traceparent });
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    expect(headers.get('x-trace-id')).toBe(traceId);
    expect(body.data).toEqual({ refuse: null, fail: null, hello: 'hi' });
    expect(body.errors).toContainEqual(
      expect.objectContaining({
        message: 'no such thing',
        path: ['refuse'],
        extensions: { code: 'NOT_FOUND', field: 'id' },
      }),
    );
    expect(body.errors).toContainEqual(
      expect.objectContaining({ message: 'internal error', extensions: { code: 'INTERNAL', traceId } }),
    );
    expect(JSON.stringify(body)).not.toMatch(/hunter2|stack|serviceName/);
    expect(gateway.lines.filter((line) => line.includes('TypeError') && line.includes(traceId))).toHaveLength(
      1,
    );
  });

  test('says what is wrong with malformed requests', async () => {
    gateway = await startTestGateway();
    const cases = [
      ['{ not json', 400, 'BAD_REQUEST'],
      [{ query: '{ hello' }, 400, 'GRAPHQL_PARSE_FAILED'],
      [{ query: '{ nothing }' }, 400, 'GRAPHQL_VALIDATION_FAILED'],
      [{ query: 'query a { hello } query b { hello }' }, 400, 'OPERATION_RESOLUTION_FAILURE'],
      [{ query: 'query ($n: Int!) { tasks(first: $n) { edges { node { id } } } }' }, 400, 'BAD_USER_INPUT'],
      [{ query: 5 }, 400, 'BAD_REQUEST'],
      [{}, 400, 'BAD_REQUEST'],
    ] as const;
    for (const [sent, status, code] of cases) {
      const answer = await post(gateway, sent);
      expect([sent, answer.status, answer.body.errors?.[0]?.extensions?.['code']]).toEqual([
        sent,
        status,
        code,
      ]);
    }
  });

  test('blocks requests that another site could send without a preflight', async () => {
    gateway = await startTestGateway();
    const url = `${gateway.url}/graphql?query=${encodeURIComponent('{ hello }')}`;
    expect((await fetch(url)).status).toBe(400);
    expect((await fetch(url, { headers: { 'apollo-require-preflight': '1' } })).status).toBe(200);
    const text = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      body: '{"query":"mutation { start }"}',
    });
    expect(text.status).toBe(400);
    expect(gateway.world.starts).toBe(0);
  });

  test('answers a subscription by plain POST with the transports that serve it', async () => {
    gateway = await startTestGateway();
    const { status, body } = await post(gateway, { query: 'subscription { ticks(to: 3) }' });
    expect(status).toBe(406);
    expect(body.errors?.[0]?.message).toContain('text/event-stream');
  });

  test('counts mutations as starts, one for each root field, and tells the limits', async () => {
    gateway = await startTestGateway({ rateLimiter: createRateLimiter({ start: 3, read: 50 }) });
    const read = await post(gateway, { query: '{ hello }' });
    expect(read.headers.get('x-ratelimit-limit')).toBe('50');
    expect(read.headers.get('x-ratelimit-remaining')).toBe('49');
    expect(Number(read.headers.get('x-ratelimit-reset'))).toBeGreaterThan(Date.now() / 1_000);
    expect((await post(gateway, { query: 'mutation { a: start b: start }' })).status).toBe(200);
    const refused = await post(gateway, { query: 'mutation { a: start b: start }' });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.body.errors?.[0]?.extensions).toMatchObject({ code: 'RATE_LIMITED' });
    expect(gateway.world.starts).toBe(2);
  });

  test('aborts what waits for a caller that hung up', async () => {
    gateway = await startTestGateway();
    const { hanging } = gateway.world;
    const hangUp = new AbortController();
    const answer = fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"query":"{ hang }"}',
      signal: hangUp.signal,
    }).catch((error: unknown) => error);
    await until(() => hanging.length === 1);
    expect(hanging[0]?.aborted).toBe(false);
    hangUp.abort();
    await until(() => hanging[0]?.aborted === true);
    await answer;
  });
});

test('an answer is 503 when all of it is missing because something is away', () => {
  const away = { message: 'away', extensions: { code: 'UNAVAILABLE', retryAfter: 7 } };
  expect(findUnavailable({ data: { task: null }, errors: [away] })).toEqual({
    status: 503,
    retryAfterSeconds: 7,
  });
  expect(findUnavailable({ data: { task: null, me: {} }, errors: [away] })).toBeNull();
  // What a subgraph said is null is an answer.
  const data = { task: null, me: null };
  noteAnswered(data);
  expect(findUnavailable({ data, errors: [away] })).toBeNull();
  expect(findUnavailable({ data: null, errors: [away, { message: 'no' }] })).toBeNull();
});

describe('a list of operations in one body', () => {
  test('is answered in its order; each is admitted and counted by itself', async () => {
    gateway = await startTestGateway({ maxBatch: 3, rateLimiter: createRateLimiter({ read: 3 }) });
    const queries = ['{ hello }', '{ nothing }', '{ version }'];
    const { status, body } = await post(
      gateway,
      queries.map((query) => ({ query })),
    );
    expect(status).toBe(200);
    expect(body).toEqual([
      { data: { hello: 'hi' } },
      { errors: [expect.objectContaining({ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } })] },
      { data: { version: '1' } },
    ]);
    expect((await post(gateway, { query: '{ hello }' })).status).toBe(429);
  });

  test('is refused when it is empty or too long, and has no streams', async () => {
    gateway = await startTestGateway({ maxBatch: 2 });
    const start = { query: 'mutation { start }' };
    const extensions = async (list: readonly object[]) => {
      const { status, body } = await post(gateway as TestGateway, list);
      return [status, body.errors?.[0]?.extensions];
    };
    expect(await extensions([])).toEqual([400, { code: 'BAD_REQUEST' }]);
    const refused = { code: 'QUERY_REFUSED', limit: 'batch', allowed: 2, found: 3 };
    expect(await extensions([start, start, start])).toEqual([400, refused]);
    expect(gateway.world.starts).toBe(0);
    const { body } = await post(gateway, [{ query: 'subscription { ticks(to: 1) }' }, { query: 5 }]);
    const message = (text: string) => ({ errors: [{ message: expect.stringContaining(text) }] });
    expect(body).toMatchObject([message('a transport that stays open'), message('query must be a text')]);
    await post(gateway, [start, start]);
    expect(gateway.world.starts).toBe(2);
  });
});

describe('operations that are named by a hash', () => {
  const byHash = (sha256Hash: string) => ({ persistedQuery: { version: 1, sha256Hash } });
  const computeHash = (query: string) => createHash('sha256').update(query).digest('hex');
  const operations = [{ id: 'hello-1', body: '{ hello }', name: undefined }];
  const persisted = (mode: 'log' | 'allow' | 'only', isAutomatic: boolean, lines: unknown[] = []) =>
    createPersistedOperations({
      operations,
      mode,
      isAutomatic,
      logger: { ...silentLogger(), info: (fields: unknown) => void lines.push(fields) },
    });
  const readCode = (found: unknown) => (found instanceof GraphQLError ? found.extensions['code'] : found);

  test('run by POST and by GET, once their text is known', async () => {
    gateway = await startTestGateway({ persisted: persisted('allow', true) });
    expect((await post(gateway, { extensions: byHash('hello-1') })).body).toEqual({ data: { hello: 'hi' } });
    const query = '{ version }';
    const extensions = byHash(computeHash(query));
    const unknown = await post(gateway, { extensions });
    expect([unknown.status, unknown.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(unknown.body.errors).toMatchObject([
      { message: 'PersistedQueryNotFound', extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } },
    ]);
    const forged = await post(gateway, { query: '{ hello }', extensions });
    expect(forged.body.errors?.[0]?.extensions).toEqual({ code: 'BAD_REQUEST' });
    expect((await post(gateway, { query, extensions })).body).toEqual({ data: { version: '1' } });
    // Without the header that a forged request of a browser can not have.
    const search = new URLSearchParams({ extensions: JSON.stringify(extensions) });
    const answer = await fetch(`${gateway.url}/graphql?${search.toString()}`);
    expect(await answer.json()).toEqual({ data: { version: '1' } });
  });

  test('are expanded with what else came, and left alone where they name no hash', () => {
    const { expand } = persisted('allow', false);
    const body = { query: '{ x }', extensions: { other: 1 } };
    expect([expand(body), expand(null), expand('text')]).toEqual([body, null, 'text']);
    const asked = { extensions: { ...byHash('hello-1'), other: 1 }, variables: { a: 1 } };
    expect(expand(asked)).toEqual({ query: '{ hello }', extensions: { other: 1 }, variables: { a: 1 } });
    expect(expand({ query: '', extensions: byHash('hello-1') })).toEqual({ query: '{ hello }' });
    expect(readCode(expand({ extensions: byHash('no') }))).toBe('PERSISTED_QUERY_NOT_SUPPORTED');
    // Nobody keeps it, so that nobody has to check it.
    expect(expand({ query: '{ x }', extensions: byHash('no') })).toEqual({ query: '{ x }' });
  });

  test('are all that may be sent where only the manifest is taken; else others are logged once, or nothing is said', () => {
    const lines: unknown[] = [];
    const [log, allow, only] = [
      persisted('log', true, lines),
      persisted('allow', true, lines),
      persisted('only', true),
    ];
    const refusals = [log, allow, only].map(({ findRefusal }) =>
      ['{ hello }', '{ x }', '{ x }'].map((query) => readCode(findRefusal(query))),
    );
    const refused = 'PERSISTED_QUERY_NOT_IN_LIST';
    expect(refusals).toEqual([
      [null, null, null],
      [null, null, null],
      [null, refused, refused],
    ]);
    expect(lines).toEqual([{ query: '{ x }' }]);
    const query = '{ x }';
    only.expand({ query, extensions: byHash(computeHash(query)) });
    expect(readCode(only.expand({ extensions: byHash(computeHash(query)) }))).toBe(refused);
  });

  test('are read of a manifest, whose mistakes are named', () => {
    const operation = { id: 'a', body: '{ x }', type: 'query' };
    expect(readManifest(JSON.stringify({ operations: [operation] }), 'f')).toEqual([
      { id: 'a', body: '{ x }', name: undefined },
    ]);
    for (const [text, mistake] of [
      ['{', 'f is no JSON'],
      ['{"operations":[{"id":"","body":"x"}]}', 'f operations.0.id'],
      ['{"operations":[{"id":"a","body":""}]}', 'f operations.0.body'],
      ['{"format":"other","operations":[]}', 'f format'],
    ] as const)
      expect(() => readManifest(text, 'f')).toThrow(mistake);
  });
});
