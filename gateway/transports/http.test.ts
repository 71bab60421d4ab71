import { getIntrospectionQuery } from 'graphql';
import { afterEach, describe, expect, test } from 'vitest';

import { createRateLimiter } from '../limits/rate-limit.ts';
import { type Door, post, startDoor, until } from '../server/server-under-test.fixture.ts';
import { HOSTILE } from './hostile-queries.fixture.ts';

let door: Door | undefined;
afterEach(async () => {
  await door?.close();
  door = undefined;
});

describe('queries over HTTP', () => {
  test('answers from both subgraphs', async () => {
    door = await startDoor();
    const { status, body } = await post(door, {
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

  test.each(HOSTILE)('refuses too much %s before execution', async (limit, query) => {
    door = await startDoor();
    const { status, body } = await post(door, {
      query,
      operationName: limit === 'operations' ? 'q0' : undefined,
    });
    expect(status).toBe(400);
    expect(body.errors?.[0]?.extensions).toMatchObject({ code: 'QUERY_REFUSED', limit });
    expect(body).not.toHaveProperty('data');
    expect(door.world.starts).toBe(0);
  });

  test('refuses a body of more than 1 MB, and a batch of operations', async () => {
    door = await startDoor();
    const big = await post(door, { query: `{ hello } # ${'x'.repeat(1_100_000)}` });
    expect(big.status).toBe(413);
    expect(big.body.errors?.[0]?.extensions).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    const batch = await post(
      door,
      Array.from({ length: 100 }, () => ({ query: 'mutation { start }' })),
    );
    expect(batch.status).toBe(400);
    expect(batch.body.errors?.[0]?.extensions).toMatchObject({
      code: 'QUERY_REFUSED',
      limit: 'batch',
      found: 100,
    });
    expect(door.world.starts).toBe(0);
  });

  test('lets the standard introspection query pass in development only', async () => {
    door = await startDoor();
    const query = getIntrospectionQuery({ inputValueDeprecation: true, specifiedByUrl: true });
    expect((await post(door, { query })).body.data).toHaveProperty('__schema');
    await door.close();
    door = await startDoor({ production: true });
    const { status, body } = await post(door, { query });
    expect(status).toBe(400);
    expect(body.errors?.[0]?.extensions).toEqual({ code: 'GRAPHQL_VALIDATION_FAILED' });
    expect((await post(door, { query: '{ __typename hello }' })).body.data).toEqual({
      __typename: 'Query',
      hello: 'hi',
    });
  });

  test('keeps the codes of known errors and masks unknown ones under a trace id', async () => {
    door = await startDoor();
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const { body, headers } = await post(door, { query: '{ refuse fail hello }' }, { traceparent });
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
    expect(door.lines.filter((line) => line.includes('TypeError') && line.includes(traceId))).toHaveLength(1);
  });

  test('says what is wrong with malformed requests', async () => {
    door = await startDoor();
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
      const answer = await post(door, sent);
      expect([sent, answer.status, answer.body.errors?.[0]?.extensions?.['code']]).toEqual([
        sent,
        status,
        code,
      ]);
    }
  });

  test('blocks requests that another site could send without a preflight', async () => {
    door = await startDoor();
    const url = `${door.url}/graphql?query=${encodeURIComponent('{ hello }')}`;
    expect((await fetch(url)).status).toBe(400);
    expect((await fetch(url, { headers: { 'apollo-require-preflight': '1' } })).status).toBe(200);
    const text = await fetch(`${door.url}/graphql`, {
      method: 'POST',
      body: '{"query":"mutation { start }"}',
    });
    expect(text.status).toBe(400);
    expect(door.world.starts).toBe(0);
  });

  test('answers a subscription by plain POST with the transports that serve it', async () => {
    door = await startDoor();
    const { status, body } = await post(door, { query: 'subscription { ticks(to: 3) }' });
    expect(status).toBe(406);
    expect(body.errors?.[0]?.message).toContain('text/event-stream');
  });

  test('counts mutations as starts, one for each root field, and tells the limits', async () => {
    door = await startDoor({ rateLimiter: createRateLimiter({ start: 3, read: 50 }) });
    const read = await post(door, { query: '{ hello }' });
    expect(read.headers.get('x-ratelimit-limit')).toBe('50');
    expect(read.headers.get('x-ratelimit-remaining')).toBe('49');
    expect(Number(read.headers.get('x-ratelimit-reset'))).toBeGreaterThan(Date.now() / 1_000);
    expect((await post(door, { query: 'mutation { a: start b: start }' })).status).toBe(200);
    const refused = await post(door, { query: 'mutation { a: start b: start }' });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.body.errors?.[0]?.extensions).toMatchObject({ code: 'RATE_LIMITED' });
    expect(door.world.starts).toBe(2);
  });

  test('aborts what waits for a caller that hung up', async () => {
    door = await startDoor();
    const { hanging } = door.world;
    const hangUp = new AbortController();
    const answer = fetch(`${door.url}/graphql`, {
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
