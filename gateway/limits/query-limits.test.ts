import { buildSchema, getIntrospectionQuery, GraphQLError, parse, specifiedRules, validate } from 'graphql';
import { expect, test } from 'vitest';

import { measureDocument } from './document-shape.ts';
import { createQueryLimits } from './query-limits.ts';

const schema = buildSchema(`
  type Task { id: ID! outputs: [File!]! previous: Task }
  type File { url: String! }
  type Edge { node: Task! }
  type Connection { edges: [Edge!]! }
  type Query { task: Task tasks(first: Int! = 50): Connection! files(limit: Int): [File!]! }
`);
const limits = createQueryLimits({ introspection: true });

const costIsRefused = (query: string, maxCost: number): boolean =>
  validate(schema, parse(query), [
    ...specifiedRules,
    ...createQueryLimits({ introspection: true, maxCost }).validationRules,
  ]).some(({ extensions }) => extensions['limit'] === 'cost');

test('lets ordinary documents and the standard introspection pass', () => {
  for (const query of [
    '{ task { id } }',
    getIntrospectionQuery({ inputValueDeprecation: true, oneOf: true }),
  ]) {
    expect(limits.parse(query)).not.toBeInstanceOf(GraphQLError);
  }
});

test('measures fragments at every place they are spread', () => {
  const document = parse(`
    query a { x: task { ...f } y: task { ...f } }
    query b { tasks { edges { node { ... on Task { previous { ...f } } } } } }
    fragment f on Task { renamed: id previous { id } }
  `);
  expect(measureDocument(document)).toEqual({
    operations: 2,
    depth: 6,
    aliases: 5,
    rootFields: 2,
    fields: 15,
    plannedFields: 15,
    levels: 21,
    introspectionDepth: 0,
  });
});

test('measures how deep lists of introspection are nested', () => {
  const document = parse('{ __type(name: "Task") { fields { type { fields { name } } } } }');
  expect(measureDocument(document)).toMatchObject({ depth: 1, plannedFields: 0, introspectionDepth: 2 });
});

test('ends on fragments that spread themselves', () => {
  const document = parse('{ ...a } fragment a on Query { task { id } ...b } fragment b on Query { ...a }');
  expect(measureDocument(document).operations).toBe(1);
});

test('names the limit, what is allowed and what was found', () => {
  const refused = createQueryLimits({ introspection: true, maxDepth: 2 }).parse(
    '{ task { previous { id } } }',
  );
  expect(refused).toMatchObject({
    message: 'refused before execution: depth is 3, at most 2 is allowed',
    extensions: { code: 'QUERY_REFUSED', limit: 'depth', allowed: 2, found: 3 },
  });
});

test('multiplies what stands below lists by their size: literal, default, variable', () => {
  // tasks 1 + 10 x (edges 1 + (node 1 + id 1))
  expect(costIsRefused('{ tasks(first: 10) { edges { node { id } } } }', 31)).toBe(false);
  expect(costIsRefused('{ tasks(first: 10) { edges { node { id } } } }', 30)).toBe(true);
  expect(costIsRefused('{ tasks { edges { node { id } } } }', 151)).toBe(false);
  expect(costIsRefused('{ tasks { edges { node { id } } } }', 150)).toBe(true);
  expect(costIsRefused('query ($n: Int!) { tasks(first: $n) { edges { node { id } } } }', 301)).toBe(false);
  expect(costIsRefused('query ($n: Int!) { tasks(first: $n) { edges { node { id } } } }', 300)).toBe(true);
  // outputs has no size: 5
  expect(costIsRefused('{ task { outputs { url } } }', 7)).toBe(false);
  expect(costIsRefused('{ task { outputs { url } } }', 6)).toBe(true);
  expect(costIsRefused('{ ...f } fragment f on Query { files(limit: 100) { url } }', 100)).toBe(true);
});
