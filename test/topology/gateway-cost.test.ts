import { writeFile } from 'node:fs/promises';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { graphql } from '../kit/clients/requests.ts';
import { inDocs, type OtherGateway, startOtherGateway, writeYaml } from './other-gateway.ts';
import { openShop, type Shop } from './shop.ts';

/** The example of docs/gateway.md about costs and batches. */

let shop: Shop;
let gateway: OtherGateway;
beforeAll(async () => {
  shop = await openShop();
  gateway = await startOtherGateway({ supergraph: shop.supergraph(true), config: writeYaml('cost:') });
});
afterAll(async () => {
  await gateway?.end();
  await shop?.close();
});

async function fetchCost(query: string, variables = {}): Promise<unknown> {
  const answer = (await graphql(gateway.url, query, variables)) as { readonly extensions?: object };
  return answer.extensions;
}

const cost = (estimated: number, actual: number) => ({ cost: { estimated, actual } });

it.each([
  ['the length of a list by its argument', '{ search(first: 4) { id } }', {}, cost(4, 1)],
  ['its default', '{ search { id } }', {}, cost(2, 1)],
  ['a variable', 'query ($n: Int = 9) { search(first: $n) { id } }', { n: 3 }, cost(3, 1)],
  ['the default of a variable', 'query ($n: Int = 9) { search(first: $n) { id } }', {}, cost(9, 1)],
  ['the weight of an argument', '{ search(first: 1, deep: true) { id } }', {}, cost(6, 6)],
  ['the weight of a field', '{ best { id } }', {}, cost(7, 7)],
  ['what nothing is said of', '{ reviews { id author { name } } }', {}, cost(6, 4)],
  ['a mutation', 'mutation { rename(name: "x") { id } }', {}, cost(11, 11)],
  ['what is left out', '{ best @skip(if: true) { id } reviews { id } }', {}, cost(3, 2)],
])('counts %s', async (_, query, variables, expected) => {
  expect(await fetchCost(query, variables)).toEqual(expected);
});

it('refuses what costs more, and asks no subgraph', async () => {
  const before = shop.reviews.queries.length;
  const answer = await graphql(gateway.url, 'query ($n: Int) { search(first: $n) { id } }', { n: 26 });
  expect(answer.errors?.[0]?.extensions).toMatchObject({
    code: 'QUERY_REFUSED',
    limit: 'cost',
    allowed: 25,
    found: 26,
  });
  expect(shop.reviews.queries.length).toBe(before);
});

describe('a list of operations', () => {
  const send = async (body: unknown) =>
    (
      await fetch(`${gateway.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    ).json();

  it('is answered in its order, each with its own errors', async () => {
    const answers = await send([
      { query: '{ best { id } }' },
      { query: '{ none }' },
      { query: '{ reviews { id } }' },
    ]);
    expect(answers).toMatchObject([
      { data: { best: { id: 'r1' } } },
      { errors: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }] },
      { data: { reviews: [{ id: 'r1' }, { id: 'r2' }] } },
    ]);
  });

  it('has at most as many as the file says', async () => {
    expect(await send(Array.from({ length: 6 }, () => ({ query: '{ best { id } }' })))).toMatchObject({
      errors: [{ extensions: { limit: 'batch', allowed: 5, found: 6 } }],
    });
  });
});

describe('an answer in parts', () => {
  const ask = async (query: string, accept: string) =>
    fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept },
      body: JSON.stringify({ query }),
    });
  const IN_PARTS = 'multipart/mixed;deferSpec=20220824,application/graphql-response+json;q=0.9';
  /** That of docs/gateway.md. */
  const { query } = JSON.parse(inDocs(/-d '(\{"query": "\{ users.*\})'/)) as { readonly query: string };

  it('comes as Apollo Client asks for it, with its cost at the end', async () => {
    const response = await ask(query, IN_PARTS);
    expect(response.headers.get('content-type')).toBe(
      'multipart/mixed;boundary="graphql";deferSpec=20220824',
    );
    const text = await response.text();
    expect(text.endsWith('--graphql--\r\n')).toBe(true);
    const parts = text.split('\r\n').filter((line) => line.startsWith('{'));
    const makeReviews = (id: string) => ({ reviews: [1, 2].map((n) => ({ text: `text of ${id}-r${n}` })) });
    expect(parts.map((part) => JSON.parse(part) as unknown)).toEqual([
      { data: { users: [{ id: 'u1' }, { id: 'u2' }] }, hasNext: true },
      {
        incremental: ['u1', 'u2'].map((id, index) => ({
          label: 'late',
          path: ['users', index],
          data: makeReviews(id),
        })),
        extensions: cost(12, 6),
        hasNext: false,
      },
    ]);
  });

  it('reaches Apollo Client', async () => {
    const { ApolloClient, gql, HttpLink, InMemoryCache } = await import('@apollo/client');
    const { Defer20220824Handler } = await import('@apollo/client/incremental');
    const client = new ApolloClient({
      cache: new InMemoryCache(),
      link: new HttpLink({ uri: `${gateway.url}/graphql` }),
      incrementalHandler: new Defer20220824Handler(),
    });
    const seen: unknown[] = [];
    await new Promise<void>((resolve, reject) => {
      client.watchQuery({ query: gql(query) }).subscribe({
        next({ data, dataState }) {
          if (data !== undefined) seen.push([dataState, data]);
          if (dataState === 'complete') resolve();
        },
        error: reject,
      });
    });
    client.stop();
    expect(seen.at(0)).toMatchObject(['streaming', { users: [{ id: 'u1' }, { id: 'u2' }] }]);
    expect(seen.at(-1)).toMatchObject([
      'complete',
      { users: [{ reviews: [{ text: 'text of u1-r1' }, {}] }, {}] },
    ]);
  });

  it('comes at once where nothing is deferred, and where it is not asked for in parts', async () => {
    const plain = await ask('{ users { id } }', IN_PARTS);
    expect(plain.headers.get('content-type')).toContain('application/graphql-response+json');
    expect(await plain.json()).toMatchObject({ data: { users: [{ id: 'u1' }, { id: 'u2' }] } });
    const whole = await ask(query, 'application/json');
    expect(await whole.json()).toMatchObject({
      data: { users: [{ reviews: [{}, {}] }, { reviews: [{}, {}] }] },
    });
  });
});

it('refuses by what the file says now', async () => {
  const query = '{ best { id } }';
  expect(await fetchCost(query)).toEqual(cost(7, 7));
  await writeFile(path.join(gateway.folder, 'gateway.yaml'), 'cost: { max: 6 }\n');
  await expect
    .poll(async () => (await graphql(gateway.url, query)).errors?.[0]?.extensions)
    .toMatchObject({
      limit: 'cost',
      allowed: 6,
      found: 7,
    });
});

it('asks once for entities that the example keeps', async () => {
  const keeping = await startOtherGateway({
    supergraph: shop.supergraph(true),
    config: writeYaml('entityCacheBytes:'),
  });
  const ask = () => graphql(keeping.url, '{ reviews { id author { name } } }');
  const first = await ask();
  expect(first.data.reviews[0]).toMatchObject({ author: { name: 'Ada' } });
  const asked = [shop.accounts.seen.length, shop.reviews.seen.length];
  expect(await ask()).toEqual(first);
  expect([shop.accounts.seen.length, shop.reviews.seen.length]).toEqual([asked[0], (asked[1] ?? 0) + 1]);
  await keeping.end();
});
