import { composeServices } from '@apollo/composition';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { type ExecutionResult, GraphQLError, parse } from 'graphql';
import { expect, it } from 'vitest';

import { anonymousCaller } from '../../../platform/access/caller.ts';
import { createLocalLink } from '../../../platform/graphql/links/local-link.ts';
import { createDocuments } from '../../../platform/graphql/operations/documents.ts';
import type { Subgraph } from '../../../platform/graphql/operations/subgraph.ts';
import { silentLogger } from '../../../platform/process/logger.ts';
import { createExecution } from '../execution.ts';
import { createPlanner } from '../plans.ts';
import { renamedExtensions } from './own-names.ts';

const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.6",
  import: ["@key", "@requires", "@external"])`;
/** Duties are computed from a price in one currency, which callers may ask for in another. */
const customs = `${LINK}
  type Ware @key(fields: "code") {
    code: ID!
    price(currency: String!): Int @external
    maker: Producer @external
    duty: Int @requires(fields: "price(currency: \\"USD\\")")
    dutyAbroad: Int @requires(fields: "price(currency: \\"EUR\\")")
    dutyNowhere: Int @requires(fields: "price(currency: \\"none\\")")
    share(of: Int!): Int @requires(fields: "price(currency: \\"USD\\")")
    origin: String @requires(fields: "maker { town(long: true) }")
    originInShort: String @requires(fields: "maker { town(long: false) }")
  }
  type Producer @external { town(long: Boolean!): String }`;
const wares = `${LINK}
  type Query { wares: [Ware!]! }
  type Ware @key(fields: "code") { code: ID! label: String price(currency: String!): Int maker: Producer }
  type Producer { town(long: Boolean!): String }`;

const PRICES: Readonly<Record<string, number>> = { USD: 100, EUR: 7 };
const ware = {
  code: 'w',
  label: 'a ware',
  price: ({ currency }: { currency: string }) => {
    if (currency === 'none') throw new GraphQLError('no such currency', { extensions: { code: 'X' } });
    return PRICES[currency];
  },
  maker: { town: ({ long }: { long: boolean }) => (long ? 'Long Town' : 'LT') },
};

async function run(query: string, variables = {}): Promise<ExecutionResult> {
  const typeDefs = { customs, wares };
  const resolvers = {
    customs: {
      Ware: {
        __resolveReference: (given: object) => given,
        duty: ({ price }: { price: number }) => price / 10,
        dutyNowhere: () => 0,
        dutyAbroad: ({ price }: { price: number }) => price * 2,
        share: ({ price }: { price: number }, { of }: { of: number }) => Math.floor(price / of),
        originInShort: ({ maker }: { maker: { town: string } }) => `from ${maker.town}`,
        origin: ({ maker }: { maker: { town: string } }) => `from ${maker.town}`,
      },
    },
    wares: { Query: { wares: () => [ware] }, Ware: { __resolveReference: () => ware } },
  };
  const composed = composeServices(
    Object.entries(typeDefs).map(([name, sdl]) => ({ name, url: `http://${name}/`, typeDefs: parse(sdl) })),
  );
  const planner = createPlanner(composed.supergraphSdl ?? String(composed.errors));
  const logger = silentLogger();
  const linkTo = (name: keyof typeof typeDefs) => {
    const schema = buildSubgraphSchema({
      typeDefs: parse(typeDefs[name]),
      resolvers: resolvers[name],
    });
    const subgraph: Subgraph = { name: name as Subgraph['name'], schema, contextFor: (context) => context };
    return createLocalLink({ subgraph, logger });
  };
  const links = { customs: linkTo('customs'), wares: linkTo('wares') };
  const documents = createDocuments({ schema: planner.apiSchema });
  const execution = createExecution({ planner, documents, links, logger });
  const context = { caller: anonymousCaller('trace', null), signal: new AbortController().signal };
  return JSON.parse(
    JSON.stringify(await execution.execute({ query, variables, context })),
  ) as ExecutionResult;
}

it.each([
  ['{ wares { duty price(currency: "EUR") } }', { duty: 10, price: 7 }],
  ['{ wares { price(currency: "EUR") duty } }', { price: 7, duty: 10 }],
  [
    'query ($in: String = "EUR") { wares { duty ...P } } fragment P on Ware { price(currency: $in) }',
    { duty: 10, price: 7 },
  ],
  ['{ wares { duty price: label } }', { duty: 10, price: 'a ware' }],
  [
    '{ wares { duty dollars: price(currency: "USD") price(currency: "EUR") } }',
    { duty: 10, dollars: 100, price: 7 },
  ],
  ['{ wares { origin maker { town(long: false) } } }', { origin: 'from Long Town', maker: { town: 'LT' } }],
])('computes from what a field requires, whatever the caller asks for: %s', async (query, expected) => {
  const result = await run(query);
  expect(JSON.stringify(result)).toBe(JSON.stringify({ data: { wares: [expected] } }));
});

it('tells an error at the name that the caller gave', async () => {
  const { data, errors } = await run('{ wares { price(currency: "none") duty } }');
  expect(data).toEqual({ wares: [{ price: null, duty: 10 }] });
  expect(errors).toMatchObject([{ path: ['wares', 0, 'price'], extensions: { code: 'X' } }]);
});

it('tells an error of what only a field requires at the name that the field has', async () => {
  const { errors } = await run('{ wares { duty dutyAbroad dutyNowhere } }');
  expect(errors).toMatchObject([{ path: ['wares', 0, 'price'], extensions: { code: 'X' } }]);
});

it.each([
  ['{ wares { duty dutyAbroad } }', { duty: 10, dutyAbroad: 14 }],
  [
    '{ wares { dutyAbroad origin price(currency: "EUR") duty originInShort } }',
    { dutyAbroad: 14, origin: 'from Long Town', price: 7, duty: 10, originInShort: 'from LT' },
  ],
  [
    'query ($r: Int = 3) { wares { duty share(of: $r) dutyAbroad } }',
    { duty: 10, share: 33, dutyAbroad: 14 },
  ],
])(
  'computes fields that need one field with different arguments each from its own: %s',
  async (query, expected) => {
    const result = await run(query);
    expect(JSON.stringify(result)).toBe(JSON.stringify({ data: { wares: [expected] } }));
  },
);

it('renames what values were left out for, and leaves other extensions as they are', () => {
  const error = new GraphQLError('left out');
  const rename = () => new GraphQLError('renamed');
  expect(renamedExtensions({ cost: 1, valueCompletion: [error, 'text'] }, rename)).toEqual({
    cost: 1,
    valueCompletion: [new GraphQLError('renamed'), 'text'],
  });
  const others = { valueCompletion: 'text', cost: 1 };
  expect(renamedExtensions(others, rename)).toBe(others);
});
