import { createClient } from 'graphql-ws';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';

import type { RateLimits } from '../../platform/config/settings/limits.ts';
import { createRateLimiter } from '../limits/rate-limit.ts';
import { post, SHOP_SECRET, startTestGateway, type TestGateway } from './server-under-test.fixture.ts';

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
    const refused = await post(gateway, { query: 'mutation { start }' });
    expect([refused.status, refused.body.errors?.[0]?.message]).toEqual([
      429,
      expect.stringMatching(/^too many requests: 1 a minute are allowed, try again in \d+ s$/),
    ]);
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

  test('to /readyz by itself: what others read behind the same address keeps no load balancer from it', async () => {
    gateway = await startTestGateway({
      rateLimiter: createRateLimiter({ status: 1 }),
      files: (_request, response) => response.json('a file'),
      readyPerMinute: 2,
    });
    const get = async (path: string) => {
      const response = await fetch(`${gateway.url}${path}`);
      await response.text();
      return response.status;
    };
    expect([await get('/files/1/a.png'), await get('/files/1/a.png')]).toEqual([200, 429]);
    expect([await get('/readyz'), await get('/readyz'), await get('/readyz')]).toEqual([200, 200, 429]);
  });

  test('that upgrades, also to a path that is not served', async () => {
    await open({ status: 2 });
    const statuses = [await upgradeStatus('/graphql'), await upgradeStatus('/other')];
    expect([...statuses, await upgradeStatus('/graphql'), await upgradeStatus('/other')]).toEqual([
      101, 404, 429, 429,
    ]);
  });
});

const NEW = (count: number) =>
  `{ ${Array.from({ length: count }, (_, index) => `a${index}: hello`).join(' ')} }`;
const BEARER = { authorization: `Bearer ${SHOP_SECRET}` };

describe('a document that is new', () => {
  test('counts by its length alone when it differs from a known one in aliases and literals', async () => {
    await open({ plan: 10 });
    const nested = (depth: number): string => (depth === 0 ? 'id' : `previous { ${nested(depth - 1)} }`);
    const query = (alias: string) => `{ ${alias}: task(id: "${alias}") { ${nested(8)} } }`;
    for (const alias of ['a', 'b', 'c', 'd']) {
      const { status, body } = await post(gateway, { query: query(alias) });
      expect([status, Object.keys(body.data ?? {})]).toEqual([200, [alias]]);
    }
  });

  test('counts as points of the class plan, however it comes; one that is known does not', async () => {
    await open({ plan: 3 });
    for (let count = 1; count <= 3; count += 1) {
      expect((await post(gateway, { query: NEW(count) })).status).toBe(200);
    }
    const refused = await post(gateway, { query: NEW(4) });
    expect([refused.status, refused.body.errors?.[0]?.message]).toEqual([
      429,
      expect.stringMatching(/^too many points of new documents: 3 a minute are allowed, try again in \d+ s$/),
    ]);
    expect(await overWebSocket(NEW(5))).toBe('RATE_LIMITED');
    expect(await overHttp('text/event-stream')).toBe(429);
    expect((await post(gateway, { query: NEW(3) })).status).toBe(200);
    // Whether it is valid or not, and for each caller apart.
    expect((await post(gateway, { query: '{ nothing' })).status).toBe(429);
    expect((await post(gateway, { query: NEW(4) }, BEARER)).status).toBe(200);
  });

  test('counts more the longer it is, and the more fields its fragments unfold to', async () => {
    await open({ plan: 10 });
    const long = `{ hello }${' '.repeat(8_000)}`;
    expect((await post(gateway, { query: long })).status).toBe(200);
    const spread = (name: string) => `...${name} `.repeat(3);
    const wide = `{ task(id: "1") { ${spread('A')} } } fragment A on Task { ${spread('B')} }
      fragment B on Task { ${spread('C')} } fragment C on Task { ${spread('D')} } fragment D on Task { id template }`;
    expect((await post(gateway, { query: wide })).status).toBe(429);
    expect((await post(gateway, { query: wide }, BEARER)).status).toBe(200);
  });

  test('counts more the deeper its selections nest, which is what planning them takes', async () => {
    await open({ plan: 10 });
    // Levels 1 to 13 are 91 in all: nine points, and one for its length.
    const nested = (depth: number): string => (depth === 0 ? 'id' : `previous { ${nested(depth - 1)} }`);
    const deep = `{ task(id: "1") { ${nested(12)} } }`;
    expect((await post(gateway, { query: deep })).status).toBe(200);
    expect((await post(gateway, { query: '{ hello }' })).status).toBe(429);
  });
});

test('callers without a credential send the trusted documents alone, where those are named', async () => {
  gateway = await startTestGateway({ trustedDocuments: new Set(['{ hello }']), trustedOnly: true });
  expect((await post(gateway, { query: '{ hello }' })).status).toBe(200);
  expect((await post(gateway, { query: '{ whoami }' }, BEARER)).status).toBe(200);
  // Also what others have sent before.
  const { status, body } = await post(gateway, { query: '{ whoami }' });
  expect([status, body.errors?.[0]?.extensions]).toMatchObject([
    400,
    { code: 'QUERY_REFUSED', limit: 'trusted-documents' },
  ]);
});

test('new documents of callers without a credential have a bound of points, those of a known form and of others none', async () => {
  gateway = await startTestGateway({ anonymousPoints: 3 });
  const nested = (depth: number): string => (depth === 0 ? 'id' : `previous { ${nested(depth - 1)} }`);
  const query = (id: string) => `{ task(id: "${id}") { ${nested(8)} } }`;
  const refused = await post(gateway, { query: query('1') });
  expect([refused.status, refused.body.errors?.[0]?.extensions]).toMatchObject([
    400,
    { code: 'QUERY_REFUSED', limit: 'points', allowed: 3, found: 5 },
  ]);
  expect((await post(gateway, { query: query('1') }, BEARER)).status).toBe(200);
  expect((await post(gateway, { query: query('2') })).status).toBe(200);
});

test('requests of callers without a credential may be bounded by themselves, on every transport', async () => {
  gateway = await startTestGateway({ anonymousBodyBytes: 64 * 1024 });
  const large = { query: '{ hello }', variables: { unused: 'x'.repeat(70_000) } };
  expect((await post(gateway, large, BEARER)).status).toBe(200);
  const refused = await post(gateway, large);
  expect([refused.status, refused.body.errors?.[0]?.message]).toEqual([
    413,
    'the request body of a caller without a credential is too large',
  ]);
  // One without a declared length that never ends is read as far as the bound alone.
  let sent = 0;
  const endless = new ReadableStream({
    pull(controller) {
      sent += 16_384;
      controller.enqueue(new TextEncoder().encode(' '.repeat(16_384)));
    },
  });
  const cut = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: endless,
    duplex: 'half',
  });
  expect(cut.status).toBe(413);
  expect(await cut.json()).toMatchObject({ errors: [{ extensions: { code: 'PAYLOAD_TOO_LARGE' } }] });
  // What the kernel holds of a connection comes on top.
  expect(sent).toBeLessThan(32_000_000);
  const form = new FormData();
  form.set('operations', JSON.stringify(large));
  form.set('map', '{}');
  const upload = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'apollo-require-preflight': 'true' },
    body: form,
  });
  expect(upload.status).toBe(413);
  await upload.text();
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.once('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload: large })));
  expect(await closed).toBe(1009);
});
