import { setImmediate } from 'node:timers/promises';

import { composeServices } from '@apollo/composition';
import { type ExecutionResult, parse } from 'graphql';
import { expect, it } from 'vitest';

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

function linkOf(answer: (representations: Representations) => object | Promise<object>): SubgraphLink {
  return {
    execute: async ({ variables }: SubgraphRequest) => ({
      data: (await answer(variables['representations'] as Representations)) as Record<string, unknown>,
    }),
    subscribe: () => Promise.reject(new Error('not here')),
    check: () => Promise.resolve([]),
    close: () => Promise.resolve(),
  };
}

it('writes into the answer of one entity at one of its places only', async () => {
  const subgraphs = Object.entries(SUBGRAPHS);
  const composed = composeServices(
    subgraphs.map(([name, sdl]) => ({ name, url: `http://${name}/`, typeDefs: parse(sdl) })),
  );
  const planner = createPlanner(composed.supergraphSdl ?? '');
  const documents = createDocuments({ schema: planner.apiSchema });
  const links = {
    // One product, of which each place says something else.
    shop: linkOf(() => ({
      products: ['s1', 's2', 's3'].map((sku) => ({ __typename: 'Product', id: 'a', sku })),
    })),
    stock: linkOf((asked) => ({
      _entities: asked.map(() => ({ places: [{ code: 'c' }], main: { code: 'm' } })),
    })),
    sizes: linkOf(async (asked) => {
      // Merged last, into what the one answer of stock has become at three places.
      await setImmediate();
      const _entities = asked.map(({ sku }) => {
        const size = sku === 's2' ? null : Number(sku.slice(1));
        return { places: [{ size }], main: { size } };
      });
      return { _entities };
    }),
  };
  const execution = createExecution({ planner, documents, links, logger: silentLogger() });
  const context = { caller: anonymousCaller('trace', null), signal: new AbortController().signal };
  const query = '{ products { sku places { code size } main { code size } } }';
  const result = await execution.execute({ query, variables: {}, context });
  const at = (sku: string, size: number | null) => ({
    sku,
    places: [{ code: 'c', size }],
    main: { code: 'm', size },
  });
  expect(JSON.parse(JSON.stringify(result)) as ExecutionResult).toEqual({
    data: { products: [at('s1', 1), at('s2', null), at('s3', 3)] },
  });
});
