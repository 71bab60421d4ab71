import { buildSchema, parse } from 'graphql';
import { expect, it } from 'vitest';

import { operationContext } from '../federation/operation/operation-context.ts';
import { readCostDirectives } from './cost-directives.ts';
import { createOperationCost } from './operation-cost.ts';

const SDL = `
  directive @cost(weight: Int!) on ARGUMENT_DEFINITION | FIELD_DEFINITION | INPUT_FIELD_DEFINITION | OBJECT | SCALAR
  directive @listSize(assumedSize: Int, slicingArguments: [String!], sizedFields: [String!]) on FIELD_DEFINITION
  scalar Dear @cost(weight: 3)
  type Query {
    one: Item
    plain: [Item!]!
    assumed: [Item!]! @listSize(assumedSize: 7)
    sliced(first: Int = 4, last: Int): [Item!]! @listSize(slicingArguments: ["first", "last"])
    page(first: Int): Page @listSize(slicingArguments: ["first"], sizedFields: ["edges"])
    find(by: Filter @cost(weight: 2), word: Dear): Item @cost(weight: 5)
  }
  type Mutation { make: Item }
  type Item { name: String dear: Dear inner: Item }
  type Page { edges: [Item!]! others: [Item!]! }
  input Filter { text: String @cost(weight: 4) inner: Filter }
`;
const schema = buildSchema(SDL);
const costs = createOperationCost({ directives: readCostDirectives(SDL), listSize: 10 });
const contextOf = (query: string) =>
  operationContext({ schema, document: parse(query), operationName: undefined });

it.each([
  ['an object', '{ one { name } }', 1],
  ['what has a weight', '{ one { dear } }', 4],
  ['a list of which nothing is said', '{ plain { name } }', 10],
  ['a list of an assumed size', '{ assumed { dear } }', 28],
  ['a list by the default of its argument', '{ sliced { name } }', 4],
  ['a list by the largest of its arguments', '{ sliced(first: 2, last: 6) { name } }', 6],
  ['a list by a variable', 'query ($n: Int) { sliced(first: $n) { name } }', 9],
  ['a list by the default of a variable', 'query ($m: Int = 8) { sliced(first: $m) { name } }', 8],
  ['lists below what is sized', '{ page(first: 3) { edges { name } others { name } } }', 14],
  ['lists below what could be', '{ page { edges { name } } }', 11],
  ['arguments', '{ find(by: { text: "x", inner: { text: "y" } }, word: "z") { name } }', 19],
  ['a mutation', 'mutation { make { name } }', 11],
  ['what a fragment asks for', '{ ...F } fragment F on Query { one { ... on Item { dear } } }', 4],
  ['nothing that is left out', '{ one @skip(if: true) { dear } plain @include(if: $no) { dear } }', 0],
])('is estimated for %s', (_, query, cost) => {
  expect(costs.estimated(contextOf(query), { n: 9, no: false })).toBe(cost);
});

it.each([
  ['each that came', '{ plain { dear } }', { plain: [{ dear: 1 }, { dear: 2 }] }, 8],
  ['a name of its own', '{ a: one { name inner { name } } }', { a: { name: 'x', inner: null } }, 1],
  ['nothing', '{ one { name } }', { one: null }, 0],
  ['a mutation', 'mutation { make { name } }', { make: { name: 'x' } }, 11],
  ['no answer', 'mutation { make { name } }', null, 0],
  ['no data', '{ one { name } }', undefined, 0],
])('is that of an answer with %s', (_, query, data, cost) => {
  expect(costs.actual(contextOf(query), {}, data)).toBe(cost);
});

it('goes by the directives as the supergraph calls them', () => {
  const renamed = readCostDirectives(`
    schema @link(url: "https://specs.apollo.dev/cost/v0.1", import: [{ name: "@cost", as: "@price" }, "@listSize"]) { query: Query }
    type Query { a: Int @price(weight: 2) b: Int @cost(weight: 9) }
  `);
  expect([renamed.findWeight('Query.a'), renamed.findWeight('Query.b'), renamed.isEmpty]).toEqual([
    2,
    undefined,
    false,
  ]);
  expect(readCostDirectives('type Query { a: Int }').isEmpty).toBe(true);
});
