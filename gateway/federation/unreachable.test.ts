import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';
import { expect, it } from 'vitest';

import { createPlanner } from './plans.ts';

/** Where Apollo's planner takes a way that leads nowhere. */

const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.5",
  import: ["@key", "@requires", "@external", "@interfaceObject"])`;

function createTestPlanner(subgraphs: Readonly<Record<string, string>>) {
  const services = Object.entries(subgraphs).map(([name, types]) => ({
    name,
    url: `http://${name}/`,
    typeDefs: parse(`${LINK} ${types}`),
  }));
  const { supergraphSdl, errors } = composeServices(services);
  if (supergraphSdl === undefined) throw new AggregateError(errors ?? [], String(errors));
  return createPlanner(supergraphSdl);
}

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
  const planner = createTestPlanner({
    first: `interface Node @key(fields: "id") { id: ID! } type Query { node: Node other: Int }`,
    second: `type Node @key(fields: "id", resolvable: false) @interfaceObject { id: ID! extra: String } type Query { two: Node }`,
  });
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
