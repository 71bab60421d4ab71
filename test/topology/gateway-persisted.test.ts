import { createHash } from 'node:crypto';

import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import { type OtherGateway, startOtherGateway, writeYaml } from './other-gateway.ts';
import { openShop, type Shop } from './shop.ts';

/** The example of docs/gateway.md about persisted operations. */

const REVIEWS = 'query Reviews { reviews { id } }';
const ADDED = 'subscription Added { reviewAdded { id } }';
const manifest = JSON.stringify({
  format: 'apollo-persisted-query-manifest',
  version: 1,
  operations: [
    { id: 'reviews-1', name: 'Reviews', type: 'query', body: REVIEWS },
    { id: 'added-1', name: 'Added', type: 'subscription', body: ADDED },
  ],
});

let shop: Shop;
let only: OtherGateway;
let open: OtherGateway;
beforeAll(async () => {
  shop = await openShop();
  const supergraph = shop.supergraph(true);
  const files = { 'operations.json': manifest };
  const config = `${writeYaml('persistedOperations:')}responseHeaders: [{ propagate: cache-control }]\nsubgraphs: { reviews: { subscriptions: { protocol: sse } } }\n`;
  only = await startOtherGateway({ supergraph, config, files });
  open = await startOtherGateway({ supergraph, config: config.replace('mode: only', 'mode: log'), files });
});
afterAll(async () => {
  await Promise.all([only?.end(), open?.end()]);
  await shop?.close();
});

const byHash = (sha256Hash: string) => ({ persistedQuery: { version: 1, sha256Hash } });

async function post(url: string, body: object) {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (await response.json()) as {
    readonly data?: unknown;
    readonly errors?: readonly { readonly message: string; readonly extensions: object }[];
  };
}

const DATA = { data: { reviews: [{ id: 'r1' }, { id: 'r2' }] } };

describe('where only the manifest is taken', () => {
  it('takes its operations by id and by text', async () => {
    expect(await post(only.url, { extensions: byHash('reviews-1') })).toEqual(DATA);
    expect(await post(only.url, { query: REVIEWS })).toEqual(DATA);
  });

  it('refuses every other one, with and without a hash', async () => {
    const query = '{ reviews { text } }';
    const hash = createHash('sha256').update(query).digest('hex');
    for (const body of [{ query }, { query, extensions: byHash(hash) }, { extensions: byHash(hash) }])
      expect((await post(only.url, body)).errors?.[0]?.extensions).toMatchObject({
        code: 'PERSISTED_QUERY_NOT_IN_LIST',
      });
  });

  it('subscribes by id over a WebSocket', async () => {
    const client = createClient({
      url: `${only.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
    });
    const events = client.iterate({ query: '', extensions: byHash('added-1') });
    const first = events.next();
    await expect.poll(() => shop.listeners()).toBe(1);
    shop.emit('r9');
    expect((await first).value).toEqual({ data: { reviewAdded: { id: 'r9' } } });
    await client.dispose();
  });
});

it('answers GET by id with what the subgraphs say of keeping it', async () => {
  const extensions = encodeURIComponent(JSON.stringify(byHash('reviews-1')));
  const response = await fetch(`${only.url}/graphql?extensions=${extensions}`);
  expect([response.status, await response.json()]).toEqual([200, DATA]);
  expect(response.headers.get('cache-control')).toBe('max-age=60');
});

it('keeps texts that come with their hash', async () => {
  const query = '{ reviews { text } }';
  const hash = createHash('sha256').update(query).digest('hex');
  const unknown = await post(open.url, { extensions: byHash(hash) });
  expect(unknown.errors).toMatchObject([
    { message: 'PersistedQueryNotFound', extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } },
  ]);
  expect(await post(open.url, { query, extensions: byHash(hash) })).toMatchObject({
    data: { reviews: [{}, {}] },
  });
  expect(await post(open.url, { extensions: byHash(hash) })).toMatchObject({ data: { reviews: [{}, {}] } });
  const forged = await post(open.url, {
    query: '{ users { id } }',
    extensions: byHash(hash.replace(/^./, 'x')),
  });
  expect(forged.errors?.[0]?.extensions).toMatchObject({ code: 'BAD_REQUEST' });
});

it('says in the log which operations are not in the manifest', async () => {
  await post(open.url, { query: '{ users { name } }' });
  await expect.poll(() => open.output()).toContain('an operation is not in the manifest');
});
