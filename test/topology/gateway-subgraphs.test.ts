import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import { graphql } from '../kit/clients/requests.ts';
import { openMultipartSubgraph } from './multipart-subgraph.ts';
import { type OtherGateway, startOtherGateway, writeYaml } from './other-gateway.ts';
import { openShop, type Shop } from './shop.ts';

/** The example of docs/gateway.md about how subgraphs are reached. */

let shop: Shop;
let gateway: OtherGateway;
beforeAll(async () => {
  shop = await openShop();
  gateway = await startOtherGateway({
    supergraph: shop.supergraph(true),
    config: writeYaml('responseHeaders:'),
  });
});
afterAll(async () => {
  await gateway?.end();
  await shop?.close();
});

/** Events over a WebSocket of its own, with headers of the upgrade. */
function subscribe(url: string, query: string, headers: Readonly<Record<string, string>> = {}) {
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    retryAttempts: 0,
    webSocketImpl: class extends WebSocket {
      constructor(address: string, protocol: string) {
        super(address, protocol, { headers });
      }
    },
  });
  return { events: client.iterate({ query }), end: () => client.dispose() };
}

it('subscribes over server-sent events, joins the rest, and leaves when its caller does', async () => {
  const { events, end } = subscribe(gateway.url, 'subscription { reviewAdded { id text author { name } } }');
  const first = events.next();
  await expect.poll(() => shop.listeners()).toBe(1);
  for (const id of ['r7', 'r8']) {
    shop.emit(id);
    const { value } = id === 'r7' ? await first : await events.next();
    expect(value).toEqual({ data: { reviewAdded: { id, text: `text of ${id}`, author: { name: 'Ada' } } } });
  }
  await events.return?.();
  await expect.poll(() => shop.listeners()).toBe(0);
  await end();
});

it('ends such a subscription when its subgraph says that it is over', async () => {
  const { events, end } = subscribe(gateway.url, 'subscription { reviewAdded { id } }');
  const first = events.next();
  await expect.poll(() => shop.listeners()).toBe(1);
  shop.complete();
  expect(await first).toMatchObject({ done: true });
  await end();
});

it('fills connection_init as its rules say', async () => {
  const before = shop.accounts.params.length;
  const { events, end } = subscribe(gateway.url, 'subscription { userChanged { id } }', {
    'x-tenant': 'acme',
  });
  const first = events.next();
  await expect.poll(() => shop.listeners()).toBe(1);
  expect(shop.accounts.params.slice(before)).toEqual([{ tenant: 'acme' }]);
  await events.return?.();
  await first;
  await end();
});

describe('headers of answers', () => {
  const readHeaders = async (query: string) =>
    (
      await fetch(`${gateway.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      })
    ).headers;

  it('go back as the rules say', async () => {
    const headers = await readHeaders('{ reviews { id } }');
    expect(headers.get('cache-control')).toBe('max-age=60');
    expect(headers.getSetCookie()).toEqual(['review=seen']);
  });

  it('forbid by GET too that an answer with errors is kept', async () => {
    const query = encodeURIComponent('{ reviews { id } broken }');
    const headers = { 'apollo-require-preflight': '1' };
    const response = await fetch(`${gateway.url}/graphql?query=${query}`, { headers });
    expect(await response.json()).toMatchObject({ data: { broken: null }, errors: [{}] });
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it('allow what every subgraph allows', async () => {
    const headers = await readHeaders('{ reviews { id author { name } } }');
    expect(headers.get('cache-control')).toContain('no-store');
  });
});

it('subscribes over multipart', async () => {
  const multipart = await openMultipartSubgraph();
  const other = await startOtherGateway({
    supergraph: multipart.supergraph,
    config: 'subgraphs:\n  clock:\n    subscriptions: { protocol: multipart }\n',
  });
  const { events, end } = subscribe(other.url, 'subscription { tick }');
  const seen: unknown[] = [];
  for await (const { data } of events) seen.push(data);
  expect(seen).toEqual([{ tick: 1 }, { tick: 2 }]);
  const failing = subscribe(other.url, 'subscription { broken }');
  await expect(failing.events.next()).rejects.toMatchObject([{ extensions: { code: 'TEAPOT' } }]);
  await Promise.all([end(), failing.end()]);
  await other.end();
  await multipart.close();
});

it('asks nothing for a while where nothing is answered', async () => {
  const own = await openShop();
  const other = await startOtherGateway({
    supergraph: own.supergraph(true),
    config: writeYaml('responseHeaders:'),
  });
  await own.close();
  const messages = new Set<string | undefined>();
  for (let index = 0; index < 5; index += 1)
    messages.add((await graphql(other.url, '{ reviews { id } }')).errors?.[0]?.message);
  expect([...messages].join()).toContain('left alone for a while');
  await other.end();
});
