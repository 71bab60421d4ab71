import { setImmediate } from 'node:timers/promises';

import { composeServices } from '@apollo/composition';
import { type ExecutionResult, GraphQLError, parse } from 'graphql';
import { describe, expect, it } from 'vitest';

import { anonymousCaller } from '../../../platform/access/caller.ts';
import { createDocuments } from '../../../platform/graphql/operations/documents.ts';
import type { SubgraphLink, SubgraphRequest } from '../../../platform/graphql/operations/subgraph.ts';
import { silentLogger } from '../../../platform/process/logger.ts';
import { createExecution } from '../execution.ts';
import { createPlanner } from '../plans.ts';

const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.6", import: ["@key", "@shareable"])`;
/** Two subgraphs give parts of the same places: one by the id of a product, the other by its sku. */
const SUBGRAPHS = {
  shop: `${LINK} type Product @key(fields: "id") @key(fields: "sku") { id: ID! sku: ID! } type Query { products: [Product!]! }`,
  stock: `${LINK} type Product @key(fields: "id") { id: ID! places: [Place!] @shareable main: Place @shareable }
    type Place { code: String }`,
  sizes: `${LINK} type Product @key(fields: "sku") { sku: ID! places: [Place!] @shareable main: Place @shareable }
    type Place { size: Int }`,
};

type Representations = readonly Readonly<Record<'id' | 'sku', string>>[];

function createLink(answer: (representations: Representations) => object | Promise<object>): SubgraphLink {
  return {
    execute: async ({ variables }: SubgraphRequest) => ({
      data: (await answer(variables['representations'] as Representations)) as Record<string, unknown>,
    }),
    subscribe: () => Promise.reject(new Error('not here')),
    check: () => Promise.resolve([]),
    close: () => Promise.resolve(),
  };
}

async function execute(
  subgraphs: Readonly<Record<string, string>>,
  links: Readonly<Record<string, SubgraphLink>>,
  query: string,
): Promise<ExecutionResult> {
  const composed = composeServices(
    Object.entries(subgraphs).map(([name, sdl]) => ({ name, url: `http://${name}/`, typeDefs: parse(sdl) })),
  );
  const planner = createPlanner(composed.supergraphSdl ?? '');
  const documents = createDocuments({ schema: planner.apiSchema });
  const execution = createExecution({ planner, documents, links, logger: silentLogger() });
  const context = { caller: anonymousCaller('trace', null), signal: new AbortController().signal };
  const result = await execution.execute({ query, variables: {}, context });
  return JSON.parse(JSON.stringify(result)) as ExecutionResult;
}

it('writes into the answer of one entity at one of its places only', async () => {
  const links = {
    // One product, of which each place says something else.
    shop: createLink(() => ({
      products: ['s1', 's2', 's3'].map((sku) => ({ __typename: 'Product', id: 'a', sku })),
    })),
    stock: createLink((asked) => ({
      _entities: asked.map(() => ({ places: [{ code: 'c' }], main: { code: 'm' } })),
    })),
    sizes: createLink(async (asked) => {
      // Merged last, into what the one answer of stock has become at three places.
      await setImmediate();
      const _entities = asked.map(({ sku }) => {
        const size = sku === 's2' ? null : Number(sku.slice(1));
        return { places: [{ size }], main: { size } };
      });
      return { _entities };
    }),
  };
  const query = '{ products { sku places { code size } main { code size } } }';
  const at = (sku: string, size: number | null) => ({
    sku,
    places: [{ code: 'c', size }],
    main: { code: 'm', size },
  });
  expect(await execute(SUBGRAPHS, links, query)).toEqual({
    data: { products: [at('s1', 1), at('s2', null), at('s3', 3)] },
  });
});

/** What one place asks of a product later, another one asks earlier with more. */
const CATALOG = {
  shop: `${LINK} type Product @key(fields: "id") { id: ID! } type Query { best: Product }`,
  users: `${LINK} type User @key(fields: "id") { id: ID! } type Query { user: User }`,
  likes: `${LINK} type User @key(fields: "id") { id: ID! liked: Product } type Product @key(fields: "id") { id: ID! }`,
  stock: `${LINK} type Product @key(fields: "id") { id: ID! count: Int place: String }`,
};

describe('a fetch that asks for a part of what an earlier one asked for', () => {
  const product = () => ({ __typename: 'Product', id: 'p' });
  const rest = {
    shop: createLink(() => ({ best: product() })),
    users: createLink(() => ({ user: { __typename: 'User', id: 'u' } })),
    likes: createLink(() => ({ _entities: [{ liked: product() }] })),
  };
  const query = '{ best { id n: count place } user { liked { n: count } } }';

  it('takes its part of that answer', async () => {
    const asked: Representations[] = [];
    const stock = createLink((representations) => {
      asked.push(representations);
      return { _entities: [{ n: 3, place: 'left' }] };
    });
    expect(await execute(CATALOG, { ...rest, stock }, query)).toEqual({
      data: { best: { id: 'p', n: 3, place: 'left' }, user: { liked: { n: 3 } } },
    });
    expect(asked).toEqual([[product()]]);
  });

  it('asks itself where names mean something else, or the wider one failed in part', async () => {
    const other = '{ best { id n: place count } user { liked { n: count } } }';
    let requests = 0;
    const stock: SubgraphLink = {
      ...createLink(() => ({})),
      execute: ({ query: sent }) => {
        requests += 1;
        if (!sent.includes('place')) return Promise.resolve({ data: { _entities: [{ n: 4, count: 4 }] } });
        const error = new GraphQLError('no place', { path: ['_entities', 0, 'place'] });
        return Promise.resolve({ data: { _entities: [{ n: null, count: null }] }, errors: [error] });
      },
    };
    for (const each of [query, other]) {
      requests = 0;
      const { data, errors } = await execute(CATALOG, { ...rest, stock }, each);
      expect({ liked: data?.['user'], paths: errors?.map(({ path }) => path), requests }).toEqual({
        liked: { liked: { n: 4 } },
        paths: [['best', 'place']],
        requests: 2,
      });
    }
  });
});
