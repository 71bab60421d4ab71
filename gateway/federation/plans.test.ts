import { readFileSync } from 'node:fs';

import { composeServices } from '@apollo/composition';
import { parse, printSchema } from 'graphql';
import { expect, it } from 'vitest';

import { createPlanner } from './plans.ts';

const sdl = readFileSync(new URL('../../schema/supergraph.graphql', import.meta.url), 'utf8');

it('has the same schema and plans of a checked supergraph as of one that it validates', () => {
  const [checked, validated] = [createPlanner(sdl, { isChecked: true }), createPlanner(sdl)];
  expect(printSchema(checked.apiSchema)).toBe(printSchema(validated.apiSchema));
  expect(checked.subgraphs).toEqual(validated.subgraphs);
  const document = parse(
    '{ executions(first: 2) { edges { node { id task { id state outputs { url } } } } } }',
  );
  const findPlan = (planner: typeof checked) =>
    JSON.stringify(planner.findPlan(document, undefined).plan, (name, value: unknown) =>
      name === 'operationDocumentNode' ? undefined : value,
    );
  expect(findPlan(checked)).toBe(findPlan(validated));
  expect(findPlan(checked)).toContain('_entities');
});

it('asks at once for fields that need different values of one field, each with its own', () => {
  const link = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.6", import: ["@key", "@requires", "@external"])`;
  const price = 'price(currency: String!): Int';
  const inCurrency = (name: string) => `in${name}: Int @requires(fields: "price(currency: \\"${name}\\")")`;
  const services = {
    shop: `${link} type Item @key(fields: "id") { id: ID! ${price} } type Query { item: Item }`,
    stock: `${link} type Item @key(fields: "id") { id: ID! ${price} @external ${inCurrency('EUR')} ${inCurrency('JPY')} }`,
  };
  const { supergraphSdl = '', errors } = composeServices(
    Object.entries(services).map(([name, text]) => ({ name, url: `http://${name}/`, typeDefs: parse(text) })),
  );
  expect(errors).toBeUndefined();
  const { plan } = createPlanner(supergraphSdl).findPlan(parse('{ item { inEUR inJPY } }'), undefined);
  const [, flatten] = plan.node?.kind === 'Sequence' ? plan.node.nodes : [];
  const split = flatten?.kind === 'Flatten' ? flatten.node : undefined;
  expect(split).toMatchObject({
    kind: 'Parallel',
    nodes: ['inEUR', 'inJPY'].map((name) => ({ kind: 'Fetch', operation: expect.stringContaining(name) })),
  });
});

it('refuses an invalid supergraph at once', () => {
  expect(() => createPlanner('type Query { a: Nothing }')).toThrow(/core schema|Nothing/);
});

it('shows callers nothing that is inaccessible, of a checked supergraph as of one that it validates', () => {
  const link = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.6", import: ["@inaccessible"])`;
  const typeDefs = parse(`${link} type Query { shown: Int hidden: Int @inaccessible }`);
  const { supergraphSdl = '' } = composeServices([{ name: 'a', url: 'http://a/', typeDefs }]);
  for (const isChecked of [true, false]) {
    const { apiSchema, supergraphSchema } = createPlanner(supergraphSdl, { isChecked });
    const fields = [apiSchema, supergraphSchema].map((schema) =>
      Object.keys(schema.getQueryType()?.getFields() ?? {}),
    );
    expect(fields).toEqual([['shown'], ['shown', 'hidden']]);
  }
});
