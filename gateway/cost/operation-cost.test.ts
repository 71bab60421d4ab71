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
    many(by: [Filter]): Item
    text: String
    u: [[U]]
  }
  type Mutation { make: Item }
  type Item { name: String dear: Dear inner: Item list: [Item] }
  union U = Item | Page
  type Page { edges: [Item!]! others: [Item!]! }
  input Filter { text: String @cost(weight: 4) inner: Filter }
`;
const schema = buildSchema(SDL);
const costs = createOperationCost({ directives: readCostDirectives(SDL), listSize: 10 });
const createContext = (query: string) =>
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
  ['one list below what is sized', '{ page(first: 3) { edges { name } } }', 4],
  ['an argument that there is not', '{ one(none: 1) { name } }', 1],
  ['lists below what could be', '{ page { edges { name } } }', 11],
  ['arguments', '{ find(by: { text: "x", inner: { text: "y" } }, word: "z") { name } }', 19],
  ['a mutation', 'mutation { make { name } }', 11],
  ['what a fragment asks for', '{ ...F } fragment F on Query { one { ... on Item { dear } } }', 4],
  ['nothing that is left out', '{ one @skip(if: true) { dear } plain @include(if: $no) { dear } }', 0],
])('is estimated for %s', (_, query, cost) => {
  expect(costs.estimated(createContext(query), { n: 9, no: false })).toBe(cost);
});

it.each([
  ['each that came', '{ plain { dear } }', { plain: [{ dear: 1 }, { dear: 2 }] }, 8],
  ['a name of its own', '{ a: one { name inner { name } } }', { a: { name: 'x', inner: null } }, 1],
  ['nothing', '{ one { name } }', { one: null }, 0],
  ['a mutation', 'mutation { make { name } }', { make: { name: 'x' } }, 11],
  ['no answer', 'mutation { make { name } }', null, 0],
  ['no data', '{ one { name } }', undefined, 0],
])('is that of an answer with %s', (_, query, data, cost) => {
  expect(costs.actual(createContext(query), {}, data)).toBe(cost);
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

it.each([
  ['a list below a list of another length', '{ plain { inner { name } } }', 20],
  ['a page without its argument', '{ page { others { name } } }', 11],
  ['a length below zero', '{ sliced(first: -3, last: -1) { name } }', 0],
  ['an argument that is null', '{ sliced(first: null) { name } }', 10],
  ['a variable that is not given', 'query ($u: Int) { sliced(first: $u) { name } }', 10],
  [
    'a list of inputs, and one that says nothing',
    '{ many(by: [{ text: "x" }, { text: null }, null]) { name } }',
    7,
  ],
  ['a field that there is not', '{ none { name } one { none } }', 1],
  ['a fragment that there is not', '{ ...None one { name } }', 1],
  ['what is included, and what is not skipped', '{ one @include(if: true) @skip(if: false) { name } }', 1],
  ['what is skipped by a variable', 'query ($yes: Boolean = true) { one @skip(if: $yes) { name } }', 0],
  ['scalars', '{ text }', 0],
])('is estimated for %s', (_, query, cost) => {
  expect(costs.estimated(createContext(query), { no: false })).toBe(cost);
});

it('is added up to a bound', () => {
  const deep = `{ ${'plain { inner { list { '.repeat(1)}${'list { '.repeat(14)} name ${'}'.repeat(14)} } } } }`;
  expect(costs.estimated(createContext(deep), {})).toBe(1e12);
});

it('is of an answer what its objects are of, also in lists of lists', () => {
  const query =
    '{ u { __typename ... on Item { dear } ... on Page { edges { dear } } ... on U { __typename } } }';
  const data = {
    u: [[{ __typename: 'Item', dear: 1 }], [{ __typename: 'Page', edges: [{ dear: 1 }, null] }]],
  };
  expect(costs.actual(createContext(query), {}, data)).toBe(1 + 3 + 1 + (1 + 3));
  const alike = '{ u { __typename ... on Item { x: dear } ... on Page { x: edges { dear } } } }';
  expect(costs.actual(createContext(alike), {}, { u: [[{ __typename: 'Item', x: 1 }]] })).toBe(1 + 3);
  const untold = '{ one { ... on Item { dear } } }';
  expect([{}, { dear: 1 }].map((one) => costs.actual(createContext(untold), {}, { one }))).toEqual([1, 4]);
});

it('reads directives of every place, with a weight of 1 where none is said', () => {
  const read = readCostDirectives(`
    extend schema @link(url: "https://specs.apollo.dev/cost/v0.1", import: ["@cost", { name: "@listSize" }])
    extend schema @link(url: "https://other.dev/cost/v0.1", import: [{ name: "@cost", as: "@other" }])
    directive @listSize(assumedSize: Int, slicingArguments: [String!], sizedFields: [String!]) on FIELD_DEFINITION
    enum E @cost(weight: 4) { A }
    union U @cost(weight: 9) = A
    input I { a: Int @cost }
    type A @cost(weight: 2.5) { b(c: Int @cost(weight: "7")): Int @listSize(assumedSize: 3, slicingArguments: "c") }
  `);
  expect(['E', 'U', 'I.a', 'A', 'A.b(c)'].map(read.findWeight)).toEqual([4, undefined, 1, 2.5, 1]);
  expect(read.findListSize('A.b')).toEqual({ assumedSize: 3, slicingArguments: ['c'], sizedFields: [] });
  const own = readCostDirectives(
    'directive @cost__listSize on FIELD_DEFINITION type A { b: Int @cost__listSize }',
  );
  expect([own.findListSize('A.b')?.assumedSize, own.isEmpty]).toEqual([undefined, false]);
  expect(readCostDirectives('type A { b: Int @cost__listSize }').findListSize('A.b')).toBeUndefined();
});

it('goes by their own names where the supergraph says none, and by the names it gives', () => {
  const plain = readCostDirectives('type A { b: [Int] @cost(weight: 2) @listSize(assumedSize: 3) }');
  expect([plain.findWeight('A.b'), plain.findListSize('A.b')?.assumedSize, plain.isEmpty]).toEqual([
    2,
    3,
    false,
  ]);
  const renamed = readCostDirectives(`
    extend schema @link(url: "https://specs.apollo.dev/cost/v0.1", import: [{ name: "@listSize", as: "@long" }])
    directive @long(assumedSize: Int, slicingArguments: [String!]) on FIELD_DEFINITION
    type A { b: [Int] @long(assumedSize: 3, slicingArguments: ["c", "d"]) }
  `);
  expect(renamed.findListSize('A.b')).toEqual({
    assumedSize: 3,
    slicingArguments: ['c', 'd'],
    sizedFields: [],
  });
});
