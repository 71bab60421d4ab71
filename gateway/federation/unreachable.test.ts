import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';
import { expect, it } from 'vitest';

import { anonymousCaller } from '../../platform/access/caller.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { createFederation } from './federation.ts';
import { createPlanner } from './plans.ts';

/** Where Apollo's planner takes a way that leads nowhere. */

const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.5",
  import: ["@key", "@requires", "@external", "@interfaceObject"])`;

function compose(subgraphs: Readonly<Record<string, string>>): string {
  const services = Object.entries(subgraphs).map(([name, types]) => ({
    name,
    url: `http://${name}/`,
    typeDefs: parse(`${LINK} ${types}`),
  }));
  const { supergraphSdl, errors } = composeServices(services);
  if (supergraphSdl === undefined) throw new AggregateError(errors ?? [], String(errors));
  return supergraphSdl;
}

const createTestPlanner = (subgraphs: Readonly<Record<string, string>>) => createPlanner(compose(subgraphs));

/** The way to what the second subgraph has of a node leads nowhere. */
const LOST = {
  first: `interface Node @key(fields: "id") { id: ID! } type Query { node: Node other: Int }`,
  second: `type Node @key(fields: "id", resolvable: false) @interfaceObject { id: ID! extra: String } type Query { two: Node }`,
};

it('comes back to a subgraph by the key that it resolves', () => {
  const planner = createTestPlanner({
    stock: `type Query { shelf: Shelf }
      type Shelf @key(fields: "id") { id: ID! items: [Item!]! }
      type Item @key(fields: "code { left }", resolvable: false) @key(fields: "id code { right }") {
        id: ID!
        code: Code!
        name: String! @external
        label: String! @requires(fields: "name")
      }
      type Code { left: ID! right: ID! }`,
    names: `type Item @key(fields: "id") { id: ID! name: String! }`,
  });
  const { plan } = planner.findPlan(parse('{ shelf { items { name label } } }'), undefined);
  const text = JSON.stringify(plan);
  expect(text).toContain('"name":"right"');
  expect(text).not.toContain('"name":"left"');
});

it('refuses what no subgraph can give, where the planner leaves it out', () => {
  const planner = createTestPlanner(LOST);
  const plan = (query: string) => () => planner.findPlan(parse(query), undefined);
  expect(plan('{ node { extra } }')).toThrow('no subgraph can give what is asked of "node"');
  for (const query of [
    '{ node { id } two { extra } }',
    '{ __typename }',
    '{ other @skip(if: true) }',
    '{ ... on Query { other } }',
  ])
    expect(plan(query)).not.toThrow();
});

it.each([false, true])(
  'names what no subgraph can give as its caller has it (with @defer: %s)',
  async (defers) => {
    const link = {
      execute: () => Promise.reject(new Error('asked')),
      subscribe: () => Promise.reject(new Error('asked')),
      check: async () => [],
      close: async () => undefined,
    };
    const links = { first: link, second: link };
    const federation = await createFederation({
      supergraphSdl: compose(LOST),
      links,
      logger: silentLogger(),
      defers,
    });
    const context = { caller: anonymousCaller('trace', null), signal: new AbortController().signal };
    const { errors } = await federation.execute({
      query: '{ mine: node { extra } }',
      variables: {},
      context,
    });
    expect(errors).toMatchObject([
      {
        message: 'no subgraph can give what is asked of "mine"',
        path: ['mine'],
        extensions: { code: 'BAD_USER_INPUT' },
      },
    ]);
    await federation.close();
  },
);
