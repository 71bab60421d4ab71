import { composeServices } from '@apollo/composition';
import { QueryPlanner } from '@apollo/query-planner';
import { type ExecutionResult, GraphQLError, parse } from 'graphql';
import { describe, expect, it, vi } from 'vitest';

import { anonymousCaller } from '../../../platform/access/caller.ts';
import type { AnswerPart } from '../../../platform/graphql/operations/answers.ts';
import type { SubgraphLink, SubgraphRequest } from '../../../platform/graphql/operations/subgraph.ts';
import { silentLogger } from '../../../platform/process/logger.ts';
import { createFederation, type FederationOptions } from '../federation.ts';

const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.6", import: ["@key", "@external", "@requires"])`;
const SUBGRAPHS = {
  shop: `${LINK}
    union Found = Product | Shelf
    type Shelf { label: String }
    type Product @key(fields: "id") { id: ID! name: String! twin: Product price(currency: String!): Int }
    type Query { products: [Product!]! product: Product found: [Found!]! }
    type Mutation { restock: Product }`,
  stock: `${LINK}
    type Product @key(fields: "id") {
      id: ID! count: Int! note: String
      price(currency: String!): Int @external
      duty: Int @requires(fields: "price(currency: \\"USD\\")")
    }`,
  reviews: `${LINK}
    type Product @key(fields: "id") { id: ID! reviews: [Review!] }
    type Review { text: String! }
    type Query { rating: Int }`,
};
const composed = composeServices(
  Object.entries(SUBGRAPHS).map(([name, sdl]) => ({ name, url: `http://${name}/`, typeDefs: parse(sdl) })),
);

type Answer = (request: SubgraphRequest) => ExecutionResult | Promise<ExecutionResult>;
interface Asked {
  readonly __typename: string;
  readonly id: string;
  readonly price?: number;
}

/** Answers each representation with what a function makes of it. */
const entities =
  (make: (asked: Asked) => unknown, errors?: readonly GraphQLError[]): Answer =>
  ({ variables }) => ({
    data: { _entities: (variables['representations'] as Asked[]).map(make) },
    ...(errors && { errors }),
  });
const product = (id: string) => ({
  __typename: 'Product',
  id,
  name: `name of ${id}`,
  price: 3,
  price__kiln_own: 7,
});

const USUAL: Readonly<Record<keyof typeof SUBGRAPHS, Answer>> = {
  shop: (request) =>
    request.variables['representations'] !== undefined
      ? entities(({ id }) => ({ ...product(id), other: `name of ${id}` }))(request)
      : {
          data: {
            all: [product('a'), product('b')],
            products: [product('a'), product('b')],
            product: product('a'),
            found: [{ __typename: 'Shelf', label: 'top' }, product('c')],
            restock: product('a'),
          },
        },
  stock: entities(({ id, price }) => ({
    count: id.length,
    n: id.length,
    note: `note on ${id}`,
    duty: (price ?? 0) * 2,
  })),
  reviews: ({ variables, ...request }) =>
    variables['representations'] === undefined
      ? { data: { rating: 5 } }
      : entities(({ id }) => ({ reviews: [{ text: `review of ${id}` }] }))({ variables, ...request }),
};

async function startFederation(
  answers: Partial<typeof USUAL>,
  options: Pick<FederationOptions, 'authorize'> = {},
) {
  const createLink = (answer: Answer): SubgraphLink => ({
    execute: async (request) => await answer(request),
    subscribe: () => Promise.reject(new Error('not here')),
    check: () => Promise.resolve([]),
    close: () => Promise.resolve(),
  });
  const links = Object.fromEntries(
    Object.entries({ ...USUAL, ...answers }).map(([name, answer]) => [name, createLink(answer)]),
  );
  return createFederation({
    supergraphSdl: composed.supergraphSdl ?? '',
    links,
    logger: silentLogger(),
    defers: true,
    ...options,
  });
}

const context = () => ({ caller: anonymousCaller('trace', null), signal: new AbortController().signal });
const plain = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value;

async function planParts(query: string, answers: Partial<typeof USUAL> = {}, variables = {}) {
  const federation = await startFederation(answers);
  const outcome = await federation.executeInParts({ query, variables, context: context() });
  if (!('next' in outcome)) return [plain(outcome)];
  const parts: AnswerPart[] = [];
  for await (const part of outcome) parts.push(plain(part));
  return parts;
}

/** Where each deferred piece stands, and what it holds. */
const readPieces = (parts: readonly (AnswerPart | ExecutionResult)[]) =>
  parts.flatMap((part) => ('incremental' in part ? (part.incremental ?? []) : []));

it('gives the first part while a deferred one is still fetched, and each as soon as it is there', async () => {
  const stock = Promise.withResolvers<void>();
  const reviews = Promise.withResolvers<void>();
  const federation = await startFederation({
    stock: async (request) => stock.promise.then(() => USUAL.stock(request)),
    reviews: async (request) => reviews.promise.then(() => USUAL.reviews(request)),
  });
  const query = `{ product { name ... @defer(label: "stock") { count } ... @defer(label: "reviews") { reviews { text } } } }`;
  const parts = await federation.executeInParts({ query, variables: {}, context: context() });
  if (!('next' in parts)) throw new Error('it came at once');
  expect(plain((await parts.next()).value)).toEqual({
    data: { product: { name: 'name of a' } },
    hasNext: true,
  });
  reviews.resolve();
  expect(plain((await parts.next()).value)).toEqual({
    incremental: [{ label: 'reviews', path: ['product'], data: { reviews: [{ text: 'review of a' }] } }],
    hasNext: true,
  });
  stock.resolve();
  expect(plain((await parts.next()).value)).toEqual({
    incremental: [{ label: 'stock', path: ['product'], data: { count: 1 } }],
    hasNext: false,
  });
  expect(await parts.next()).toEqual({ done: true, value: undefined });
});

it('asks for a part as soon as what it depends on is there, while more of the first part is fetched', async () => {
  const reviews = Promise.withResolvers<void>();
  const stock = Promise.withResolvers<void>();
  const federation = await startFederation({
    reviews: async (request) => reviews.promise.then(() => USUAL.reviews(request)),
    stock: (request) => {
      stock.resolve();
      return USUAL.stock(request);
    },
  });
  const query = '{ product { reviews { text } ... @defer { count } } }';
  const answered = federation.executeInParts({ query, variables: {}, context: context() });
  await stock.promise;
  reviews.resolve();
  const parts = await answered;
  if (!('next' in parts)) throw new Error('it came at once');
  expect(plain(await Array.fromAsync(parts))).toEqual([
    { data: { product: { reviews: [{ text: 'review of a' }] } }, hasNext: true },
    { incremental: [{ path: ['product'], data: { count: 1 } }], hasNext: false },
  ]);
});

it('is planned once: with parts for who takes them, and as a whole when somebody does not', async () => {
  const plans = vi.spyOn(QueryPlanner.prototype, 'buildQueryPlan');
  const federation = await startFederation({});
  const query = '{ product { name ... @defer { count reviews { text } } } }';
  const parts = await federation.executeInParts({ query, variables: {}, context: context() });
  if (!('next' in parts)) throw new Error('it came at once');
  await Array.fromAsync(parts);
  expect(plans).toHaveBeenCalledTimes(1);
  await federation.executeInParts({ query, variables: {}, context: context() });
  expect(plans).toHaveBeenCalledTimes(1);
  const whole = await federation.execute({ query, variables: {}, context: context() });
  expect(plain(whole.data)).toMatchObject({ product: { count: 1 } });
  expect(plans).toHaveBeenCalledTimes(2);
  await federation.execute({ query, variables: {}, context: context() });
  expect(plans).toHaveBeenCalledTimes(2);
  plans.mockRestore();
});

it('gives a part at each place of a list, from named fragments as well', async () => {
  const parts = await planParts(
    'query { products { id ...Late @defer(label: "late") } } fragment Late on Product { note }',
  );
  expect(parts).toEqual([
    { data: { products: [{ id: 'a' }, { id: 'b' }] }, hasNext: true },
    {
      incremental: ['a', 'b'].map((id, index) => ({
        label: 'late',
        path: ['products', index],
        data: { note: `note on ${id}` },
      })),
      hasNext: false,
    },
  ]);
});

it('gives parts inside of parts after them, under the names of the caller', async () => {
  const parts = await planParts(
    '{ all: products { ... @defer(label: "outer") { other: name twin { id } ... @defer(label: "inner") { n: count } } } }',
  );
  expect(parts[0]).toEqual({ data: { all: [{}, {}] }, hasNext: true });
  const labels = readPieces(parts).map(({ label, path, data }) => [label, ...path, data]);
  expect(labels).toEqual([
    ['outer', 'all', 0, { other: 'name of a', twin: null }],
    ['outer', 'all', 1, { other: 'name of b', twin: null }],
    ['inner', 'all', 0, { n: 1 }],
    ['inner', 'all', 1, { n: 1 }],
  ]);
  expect(parts.at(-1)).toMatchObject({ hasNext: false });
});

it('gives parts only of objects that have the type, and root fields of another subgraph', async () => {
  const parts = await planParts(
    '{ found { ... on Shelf { label } ... on Product @defer { name count } } ... @defer(label: "root") { rating } }',
  );
  expect(parts[0]).toEqual({ data: { found: [{ label: 'top' }, {}] }, hasNext: true });
  expect(readPieces(parts).toSorted((one, other) => one.path.length - other.path.length)).toEqual([
    { label: 'root', path: [], data: { rating: 5 } },
    { path: ['found', 1], data: { name: 'name of c', count: 1 } },
  ]);
});

it.each([
  ['a literal', '{ product { name ... @defer(if: false) { count } } }', {}],
  [
    'a variable',
    'query ($late: Boolean!) { product { name ... @defer(if: $late) { count } } }',
    { late: false },
  ],
  ['a default', 'query ($late: Boolean! = false) { product { name ... @defer(if: $late) { count } } }', {}],
])('gives all at once where %s says so', async (_, query, variables) => {
  expect(await planParts(query, {}, variables)).toEqual([
    { data: { product: { name: 'name of a', count: 1 } } },
  ]);
});

it('gives all at once to who asks so, and parts of a mutation', async () => {
  const federation = await startFederation({});
  const query = '{ product { name ... @defer { count } } }';
  expect(plain(await federation.execute({ query, variables: {}, context: context() }))).toEqual({
    data: { product: { name: 'name of a', count: 1 } },
  });
  expect(readPieces(await planParts('mutation { restock { id ... @defer { count } } }'))).toEqual([
    { path: ['restock'], data: { count: 1 } },
  ]);
});

it('gives all at once to who has more conditions than are planned for', async () => {
  const federation = await startFederation({});
  const names = ['a', 'b', 'c', 'd', 'e'];
  const declared = names.map((name) => `$${name}: Boolean!`).join(' ');
  const deferred = names.map((name) => `... @defer(if: $${name}, label: "${name}") { count }`).join(' ');
  const query = `query (${declared}) { product { name ${deferred} } }`;
  const comesInParts = async (variant: number) => {
    const variables = Object.fromEntries(names.map((name, at) => [name, ((variant >> at) & 1) === 0]));
    return 'next' in (await federation.executeInParts({ query, variables, context: context() }));
  };
  const came = [];
  for (let variant = 0; variant < 18; variant += 1) came.push(await comesInParts(variant));
  expect(came).toEqual([...Array.from({ length: 16 }, () => true), false, false]);
  expect(await comesInParts(0)).toBe(true);
});

it('gives at once what a caller may see in part', async () => {
  const query = '{ product { name ... @defer { count note } } }';
  const authorize = () => ({
    document: parse('{ product { name ... @defer { count } } }'),
    complete: (result: ExecutionResult) => ({ ...result, extensions: { withheld: 'note' } }),
  });
  const federation = await startFederation({}, { authorize });
  expect(plain(await federation.executeInParts({ query, variables: {}, context: context() }))).toEqual({
    data: { product: { name: 'name of a', count: 1, note: null } },
    extensions: { withheld: 'note' },
  });
});

it('asks for what a field needs with arguments, whatever the caller has under that name', async () => {
  const parts = await planParts('{ product { price(currency: "EUR") ... @defer { duty } } }');
  expect(parts).toEqual([
    { data: { product: { price: 7 } }, hasNext: true },
    { incremental: [{ path: ['product'], data: { duty: 6 } }], hasNext: false },
  ]);
});

describe('what fails', () => {
  it('is told with the part that it belongs to, whose null goes no further than the part', async () => {
    const failing = entities(
      ({ id }) => ({ count: id === 'a' ? null : 2, note: 'n' }),
      [new GraphQLError('no count', { path: ['_entities', 0, 'count'], extensions: { code: 'LOST' } })],
    );
    const parts = await planParts('{ products { id ... @defer { note count } } }', { stock: failing });
    expect(parts[0]).toEqual({ data: { products: [{ id: 'a' }, { id: 'b' }] }, hasNext: true });
    expect(readPieces(parts)).toMatchObject([
      {
        path: ['products', 0],
        data: null,
        errors: [{ message: 'no count', path: ['products', 0, 'count'], extensions: { code: 'LOST' } }],
      },
      { path: ['products', 1], data: { note: 'n', count: 2 } },
    ]);
  });

  it('is told with the part when its subgraph is away', async () => {
    const away: Answer = () => ({
      errors: [new GraphQLError('away', { extensions: { code: 'UNAVAILABLE' } })],
    });
    const parts = await planParts('{ product { name ... @defer { note } } }', { stock: away });
    expect(parts).toMatchObject([
      { data: { product: { name: 'name of a' } }, hasNext: true },
      {
        incremental: [
          { path: ['product'], data: { note: null }, errors: [{ extensions: { code: 'UNAVAILABLE' } }] },
        ],
        hasNext: false,
      },
    ]);
    expect(parts[0]).not.toHaveProperty('errors');
  });

  it('is told with the first part where it belongs there, and with a later one whose data came along', async () => {
    const failing: Answer = (request) => {
      if (request.variables['representations'] !== undefined) return USUAL.shop(request);
      const paths = [['products', 0, 'twin'], ['products', 1, 'note'], undefined];
      const errors = paths.map((path) => new GraphQLError(String(path?.at(-1)), { path }));
      return { data: { products: [product('a'), product('b')] }, errors };
    };
    const query = '{ products { id twin { id } ... @defer(label: "late") { note } } }';
    const parts = await planParts(query, { shop: failing });
    expect(parts[0]).toMatchObject({
      errors: [{ message: 'twin' }, { message: 'undefined' }],
      hasNext: true,
    });
    const pieces = readPieces(parts);
    expect(pieces).toMatchObject([{ label: 'late' }, { label: 'late', errors: [{ message: 'note' }] }]);
    expect(pieces[0]).not.toHaveProperty('errors');
  });

  it('ends with the first part where nothing is left to defer from', async () => {
    const nothing: Answer = () => ({ data: { product: null } });
    expect(await planParts('{ product { name ... @defer { note } } }', { shop: nothing })).toEqual([
      { data: { product: null }, hasNext: false },
    ]);
  });
});
