import { composeServices } from '@apollo/composition';
import { type ExecutionResult, parse } from 'graphql';
import { expect, it } from 'vitest';

import { anonymousCaller, type Caller } from '../../platform/access/caller.ts';
import { isStream } from '../../platform/graphql/operations/streams.ts';
import type { SubgraphLink, SubgraphRequest } from '../../platform/graphql/operations/subgraph.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { authorizeBy } from '../composition/other-graph/operation-rules.ts';
import { createFederation } from './federation.ts';

/** What a caller may not see is not shown either where the gateway fetches it for itself: as a key, or what a key is called. */

const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.6", import: ["@key", "@authenticated"])`;
const SUBGRAPHS = {
  shop: `${LINK}
    interface Thing { id: ID! }
    type Product implements Thing @key(fields: "id") { id: ID! @authenticated name: String code: String @authenticated }
    type Shelf implements Thing @key(fields: "id") { id: ID! label: String }
    type Query { product: Product products: [Product] things: [Thing]! }
    type Subscription { told: Product }`,
  stock: `${LINK}
    type Product @key(fields: "id") { id: ID! @authenticated count: Int }
    type Shelf @key(fields: "id") { id: ID! count: Int }`,
};
const composed = composeServices(
  Object.entries(SUBGRAPHS).map(([name, sdl]) => ({ name, url: `http://${name}/`, typeDefs: parse(sdl) })),
);

const product = { __typename: 'Product', id: '1', name: 'fox', title: 'fox' };
const shelf = { __typename: 'Shelf', id: '2', label: 'top' };
const ANSWERS = {
  shop: () => ({ data: { product, products: [product], things: [product, shelf] } }),
  stock: ({ variables }: SubgraphRequest) => ({
    data: {
      _entities: (variables['representations'] as { readonly id: string }[]).map(({ id }) => ({
        count: Number(id) * 10,
      })),
    },
  }),
};

async function* told(): AsyncGenerator<ExecutionResult> {
  yield { data: { told: product } };
}

async function ask(query: string, isSignedIn = false): Promise<ExecutionResult> {
  const createLink = (answer: (request: SubgraphRequest) => ExecutionResult): SubgraphLink => ({
    execute: async (request) => structuredClone(answer(request)),
    subscribe: async () => told(),
    check: async () => [],
    close: async () => undefined,
  });
  const supergraphSdl = composed.supergraphSdl ?? '';
  const federation = await createFederation({
    supergraphSdl,
    links: { shop: createLink(ANSWERS.shop), stock: createLink(ANSWERS.stock) },
    logger: silentLogger(),
    authorize: authorizeBy(supergraphSdl, { authentication: { issuers: [] } }),
  });
  const ada: Caller = { kind: 'user', id: 'ada', scopes: [], traceId: 'trace', address: null };
  const caller = isSignedIn ? ada : anonymousCaller('trace', null);
  const context = { caller, signal: new AbortController().signal };
  const request = { query, variables: {}, context };
  const events = query.startsWith('subscription') ? await federation.subscribe(request) : null;
  const isFollowed = events !== null && isStream(events);
  const answer = isFollowed ? (await events.next()).value : await federation.execute(request);
  await federation.close();
  return JSON.parse(JSON.stringify(answer)) as ExecutionResult;
}

const denied = (...path: readonly (string | number)[]) => ({
  message: 'Unauthorized field or type',
  path,
  extensions: { code: 'UNAUTHORIZED_FIELD_OR_TYPE' },
});

it('is null with its parent where it is a key that may not be null', async () => {
  expect(await ask('{ product { name id count } }')).toEqual({
    data: { product: null },
    errors: [denied('product', 'id')],
  });
  expect(await ask('{ products { ...P } } fragment P on Product { count ... { id } }')).toEqual({
    data: { products: [null] },
    errors: [denied('products', 0, 'id')],
  });
});

it('is null where it has the name of a key, and what may be seen beside it is there', async () => {
  expect(await ask('{ product { id: code title: name count } }')).toEqual({
    data: { product: { id: null, title: 'fox', count: 10 } },
    errors: [denied('product', 'id')],
  });
});

it('is withheld of the objects of one type, and shown of those of another', async () => {
  const query = '{ things { __typename ... on Product { id count } ... on Shelf { id label count } } }';
  expect(await ask(query)).toEqual({
    data: { things: [null, { __typename: 'Shelf', id: '2', label: 'top', count: 20 }] },
    errors: [denied('things', 0, 'id')],
  });
});

it('is withheld of events', async () => {
  expect(await ask('subscription { told { name id count } }')).toEqual({
    data: { told: null },
    errors: [denied('told', 'id')],
  });
});

it('is shown to who may see it', async () => {
  expect(await ask('{ product { id count } }', true)).toEqual({ data: { product: { id: '1', count: 10 } } });
});
