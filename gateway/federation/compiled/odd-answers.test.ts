import { composeServices } from '@apollo/composition';
import { type ExecutionResult, GraphQLError, parse } from 'graphql';
import { describe, expect, it } from 'vitest';

import { anonymousCaller } from '../../../platform/access/caller.ts';
import { createDocuments } from '../../../platform/graphql/operations/documents.ts';
import type { SubgraphLink, SubgraphRequest } from '../../../platform/graphql/operations/subgraph.ts';
import { silentLogger } from '../../../platform/process/logger.ts';
import { createExecution } from '../execution.ts';
import { createPlanner } from '../plans.ts';

const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.6", import: ["@key"])`;
/** Who has a shelf can ask for everything else again. */
const SUBGRAPHS = {
  shop: `${LINK} type Product @key(fields: "id") { id: ID! name: String twin: Product } type Shelf { label: String query: Query! }
    union Found = Product | Shelf
    type Query { products: [Product] best: Product shelves: [Shelf!] shelf: Shelf found: [Found!] }`,
  stock: `${LINK} type Product @key(fields: "id") { id: ID! count: Int in(city: String): Int store: Store } type Store @key(fields: "id") { id: ID! } type Version { text: String } type Query { version: Version flag: Int }`,
  stores: `${LINK} type Store @key(fields: "id") { id: ID! open: Boolean }`,
};
const composed = composeServices(
  Object.entries(SUBGRAPHS).map(([name, sdl]) => ({ name, url: `http://${name}/`, typeDefs: parse(sdl) })),
);
const planner = createPlanner(composed.supergraphSdl ?? '');

type Answer = (request: SubgraphRequest) => unknown;

async function run(query: string, answers: Partial<Record<keyof typeof SUBGRAPHS, Answer>>, variables = {}) {
  const createLink = (answer: Answer): SubgraphLink => ({
    execute: async (request) => (await answer(request)) as ExecutionResult,
    subscribe: () => Promise.reject(new Error('not here')),
    check: () => Promise.resolve([]),
    close: () => Promise.resolve(),
  });
  const links = Object.fromEntries(
    Object.entries(answers).map(([name, answer]) => [name, createLink(answer)]),
  );
  const documents = createDocuments({ schema: planner.apiSchema });
  const execution = createExecution({ planner, documents, links, logger: silentLogger() });
  const context = { caller: anonymousCaller('trace', null), signal: new AbortController().signal };
  const { data, errors = [] } = await execution.execute({ query, variables, context });
  const told = errors.map(({ message, path = [], extensions }) => [
    message,
    path.join('.'),
    extensions['code'],
  ]);
  return { data: JSON.parse(JSON.stringify(data ?? null)) as unknown, errors: told };
}

const product = (id: string) => ({ __typename: 'Product', id });
const masked = expect.stringContaining('nternal');

describe('what a subgraph says of entities', () => {
  const shop = () => ({ data: { products: [product('a'), product('b')] } });
  const both = (a: unknown, b: unknown) => ({ products: [{ count: a }, { count: b }] });

  it.each<[string, unknown, unknown, unknown[]]>([
    ['is missing for one', { data: { _entities: [null, { count: 2 }] } }, both(null, 2), []],
    [
      'is no object',
      { data: { _entities: [7, []] } },
      both(null, null),
      ['products.0', 'products.1'].map((at) => [
        expect.stringContaining('wrong shape'),
        at,
        'DOWNSTREAM_SERVICE_ERROR',
      ]),
    ],
    ['is no list', { data: { _entities: {} } }, both(null, null), [[masked, '', 'INTERNAL']]],
    ['is too short', { data: { _entities: [{ count: 1 }] } }, both(null, null), [[masked, '', 'INTERNAL']]],
    ['is nothing', { data: null }, both(null, null), []],
    ['is not there', {}, both(null, null), []],
    [
      'names one that was not asked for',
      {
        data: { _entities: [{ count: 1 }, { count: 2 }] },
        errors: [new GraphQLError('who', { path: ['_entities', 7] })],
      },
      both(1, 2),
      [['who', '', 'DOWNSTREAM_SERVICE_ERROR']],
    ],
  ])('%s', async (_, answer, data, errors) => {
    expect(await run('{ products { count } }', { shop, stock: () => answer })).toEqual({ data, errors });
  });
});

it('names the place of an entity behind what is not there', async () => {
  const shop = () => ({
    data: { products: [null, { ...product('a'), twin: null }, { ...product('b'), twin: product('c') }] },
  });
  const errors = [new GraphQLError('no count', { path: ['_entities', 0, 'count'] })];
  const stock = () => ({ data: { _entities: [{ count: null }] }, errors });
  expect(await run('{ products { twin { count } } }', { shop, stock })).toEqual({
    data: { products: [null, { twin: null }, { twin: { count: null } }] },
    errors: [['no count', 'products.2.twin.count', 'DOWNSTREAM_SERVICE_ERROR']],
  });
});

it('names the place of an entity that no list leads to', async () => {
  const shop = () => ({ data: { best: { ...product('a'), twin: product('b') } } });
  const errors = [new GraphQLError('no count', { path: ['_entities', 0, 'count'] })];
  const stock = () => ({ data: { _entities: [{ count: null }] }, errors });
  expect(await run('{ best { twin { count } } }', { shop, stock })).toEqual({
    data: { best: { twin: { count: null } } },
    errors: [['no count', 'best.twin.count', 'DOWNSTREAM_SERVICE_ERROR']],
  });
});

it('names every place of what one answer has put at several', async () => {
  const shop = () => ({ data: { products: [product('a'), product('a')] } });
  const stock = () => ({ data: { _entities: [{ store: { __typename: 'Store', id: 's' } }] } });
  const errors = [new GraphQLError('who knows', { path: ['_entities', 0, 'open'] })];
  const stores = () => ({ data: { _entities: [{ open: null }] }, errors });
  const at = (index: number) => ['who knows', `products.${index}.store.open`, 'DOWNSTREAM_SERVICE_ERROR'];
  expect(await run('{ products { store { open } } }', { shop, stock, stores })).toEqual({
    data: { products: [0, 1].map(() => ({ store: { open: null } })) },
    errors: [at(0), at(1)],
  });
});

it('fails the field of a value of the wrong shape within a type condition, and no other', async () => {
  const found = [
    { ...product('a'), name: 'one', twin: 42 },
    { __typename: 'Shelf', label: 'top' },
  ];
  const query = '{ found { ... on Product { name twin { name } } ... on Shelf { label } } }';
  expect(await run(query, { shop: () => ({ data: { found } }) })).toEqual({
    data: { found: [{ name: 'one', twin: null }, { label: 'top' }] },
    errors: [[expect.stringContaining('wrong shape'), 'found.0.twin', 'DOWNSTREAM_SERVICE_ERROR']],
  });
});

it.each([
  ['a type of no text', 7, null],
  ['no type', undefined, { name: 'two' }],
  ['that its type is null', null, null],
  ['its type', 'Product', { name: 'two' }],
])('takes for an object what says %s, or not', async (_, __typename, twin) => {
  const best = { ...product('a'), name: 'one', twin: { __typename, id: 'b', name: 'two' } };
  const { data } = await run('{ best { name twin { name } } }', { shop: () => ({ data: { best } }) });
  expect(data).toEqual({ best: { name: 'one', twin } });
});

describe('root fields that are asked for again further down', () => {
  const shelf = (label: string) => ({ __typename: 'Shelf', label, query: { __typename: 'Query' } });
  const shop = () => ({ data: { shelves: [shelf('one'), shelf('two')], shelf: shelf('one') } });

  it('are at each place that asks for them', async () => {
    let asked = 0;
    const stock = () => {
      asked += 1;
      return { data: { version: { text: 'v' }, flag: 1 } };
    };
    const query = '{ shelves { label query { version { text } flag } } }';
    const given = { version: { text: 'v' }, flag: 1 };
    expect(await run(query, { shop, stock })).toEqual({
      data: { shelves: ['one', 'two'].map((label) => ({ label, query: given })) },
      errors: [],
    });
    expect(asked).toBe(1);
  });

  it('tell an error at the place of who asks', async () => {
    const errors = [
      new GraphQLError('no version', { path: ['version'] }),
      new GraphQLError('', { path: ['flag'] }),
    ];
    const stock = () => ({ data: { version: null, flag: null }, errors });
    expect(await run('{ shelf { query { version { text } flag } } }', { shop, stock })).toEqual({
      data: { shelf: { query: { version: null, flag: null } } },
      errors: [
        ['no version', 'shelf.query.version', 'DOWNSTREAM_SERVICE_ERROR'],
        [
          'Error while fetching subquery from service "stock"',
          'shelf.query.flag',
          'DOWNSTREAM_SERVICE_ERROR',
        ],
      ],
    });
  });
});

it('masks that there is no way to a subgraph', async () => {
  expect(await run('{ flag }', {})).toEqual({ data: { flag: null }, errors: [[masked, '', 'INTERNAL']] });
});

it('says which name a variable may not have where entities are fetched with it', async () => {
  const shop = () => ({ data: { best: { ...product('a'), name: 'one' } } });
  const query = 'query ($representations: String) { best { name in(city: $representations) } }';
  expect(await run(query, { shop, stock: () => ({}) }, { representations: 'Ulm' })).toEqual({
    data: { best: { name: 'one', in: null } },
    errors: [
      [
        'call the variable $representations otherwise: subgraphs are asked for entities by it',
        '',
        'BAD_USER_INPUT',
      ],
    ],
  });
});
