import { createClient } from 'graphql-ws';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';

import { createRateLimiter } from '../limits/rate-limit.ts';
import type { RateLimits } from '../limits/rates.ts';
import { post, startTestGateway, type TestGateway } from './server-under-test.fixture.ts';

let gateway: TestGateway;
afterEach(() => gateway.close());

async function open(rates: Partial<RateLimits>): Promise<void> {
  gateway = await startTestGateway({
    rateLimiter: createRateLimiter({ read: 1_000, ...rates }),
    paidSubscriptions: ['ticks'],
    files: (_request, response) => response.json('a file'),
  });
}

/** A subscription that starts paid work, hidden in a fragment. */
const PAID = 'subscription { ...f } fragment f on Subscription { ... { count: ticks(to: 1) } }';

async function overHttp(accept: string): Promise<unknown> {
  const response = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept },
    body: JSON.stringify({ query: PAID }),
  });
  await response.text();
  return response.status;
}

function overWebSocket(query = PAID): Promise<unknown> {
  const client = createClient({
    url: `${gateway.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
  });
  return new Promise((resolve) => {
    client.subscribe(
      { query },
      {
        next: () => undefined,
        error: (errors) => resolve((errors as { extensions: { code: string } }[])[0]?.extensions.code),
        complete: () => resolve('complete'),
      },
    );
  }).finally(() => void client.dispose());
}

const upgradeStatus = (path: string) =>
  new Promise<number | undefined>((resolve) => {
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}${path}`, 'graphql-transport-ws');
    socket.once('unexpected-response', (_request, response) => resolve(response.statusCode));
    socket.once('open', () => {
      socket.close();
      resolve(101);
    });
    socket.on('error', () => undefined);
  });

describe('a subscription that starts paid work', () => {
  test.each([
    ['server-sent events', () => overHttp('text/event-stream'), 200, 429],
    ['multipart', () => overHttp('multipart/mixed;subscriptionSpec=1.0, application/json'), 200, 429],
    ['a WebSocket', () => overWebSocket(), 'complete', 'RATE_LIMITED'],
  ])('counts as a start over %s', async (_, subscribe, served, refused) => {
    await open({ start: 2 });
    expect([await subscribe(), await subscribe(), await subscribe()]).toEqual([served, served, refused]);
  });

  test('leaves queries over a WebSocket reads, which are counted too', async () => {
    await open({ read: 2 });
    const query = () => overWebSocket('{ hello }');
    expect([await query(), await query(), await query()]).toEqual(['complete', 'complete', 'RATE_LIMITED']);
  });

  test('leaves queries free of what mutations are counted as', async () => {
    await open({ start: 1, write: 1 });
    const statuses = [1, 2, 3].map(async () => (await post(gateway, { query: '{ hello }' })).status);
    expect(await Promise.all(statuses)).toEqual([200, 200, 200]);
  });

  test('leaves other subscriptions reads', async () => {
    await open({ start: 1 });
    const { status } = await post(gateway, { query: 'subscription { taskProgress(id: "t") { seq } }' });
    expect(status).toBe(406);
    expect((await post(gateway, { query: 'mutation { start }' })).status).toBe(200);
  });
});

describe('a request that starts nothing counts as well', () => {
  test.each([
    ['JSON that ends too early', '{"query":'],
    ['a text', '"{ hello }"'],
    ['a batch', '[{"query":"{ hello }"}]'],
    ['nothing to run', '{}'],
  ])('with %s as its body', async (_, body) => {
    await open({ read: 2 });
    const statuses = [await post(gateway, body), await post(gateway, body), await post(gateway, body)];
    expect(statuses.map(({ status }) => status)).toEqual([400, 400, 429]);
    expect(statuses[2]?.body.errors?.[0]?.extensions).toMatchObject({ code: 'RATE_LIMITED' });
  });

  test('with a body over the limit', async () => {
    await open({ read: 1 });
    const body = JSON.stringify({ query: `{ hello } #${'x'.repeat(1_100_000)}` });
    expect((await post(gateway, body)).status).toBe(413);
    expect((await post(gateway, body)).status).toBe(429);
  });

  test('to a file', async () => {
    await open({ status: 2 });
    const get = async () => {
      const response = await fetch(`${gateway.url}/files/1/a.png`);
      await response.text();
      return response.status;
    };
    expect([await get(), await get(), await get()]).toEqual([200, 200, 429]);
  });

  test('that upgrades, also to a path that is not served', async () => {
    await open({ status: 2 });
    const statuses = [await upgradeStatus('/graphql'), await upgradeStatus('/other')];
    expect([...statuses, await upgradeStatus('/graphql'), await upgradeStatus('/other')]).toEqual([
      101, 404, 429, 429,
    ]);
  });
});
