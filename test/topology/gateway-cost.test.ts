import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { graphql } from '../kit/clients/requests.ts';
import { type OtherGateway, startGatewayOf, yamlOf } from './gateway-of.ts';
import { openShop, type Shop } from './shop.ts';

/** The example of docs/gateway.md about costs and batches. */

let shop: Shop;
let gateway: OtherGateway;
beforeAll(async () => {
  shop = await openShop();
  gateway = await startGatewayOf({ supergraph: shop.supergraph(true), config: yamlOf('cost:') });
});
afterAll(async () => {
  await gateway?.end();
  await shop?.close();
});

async function costOf(query: string, variables = {}): Promise<unknown> {
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
  expect(await costOf(query, variables)).toEqual(expected);
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
