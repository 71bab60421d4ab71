import { buildSchema, getIntrospectionQuery, GraphQLError, parse, specifiedRules, validate } from 'graphql';
import { expect, test } from 'vitest';

import { countFieldPoints, countTextPoints, measureDocument } from './document-shape.ts';
import { createQueryLimits } from './query-limits.ts';

const schema = buildSchema(`
  type Task { id: ID! outputs: [File!]! previous: Task related: Connection }
  type File { url: String! }
  type Edge { node: Task! }
  type Connection { edges: [Edge!]! }
  interface Node { id: ID! }
  type Named implements Node { id: ID! files: [File!]! }
  type Query { task: Task node: Node tasks(first: Int! = 50): Connection! files(offset: Int = 9, limit: Int): [File!]! pages(first: Int = 1, last: Int): [File!]! }
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
  expect(measureDocument(parse('{ a { __typename } }'))).toMatchObject({
    depth: 2,
    plannedFields: 1,
    levels: 1,
  });
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

test.each([
  ['query-length', `{ task { id } } #${'x'.repeat(83)}`, 99, 100],
  ['tokens', '{ task { id previous { id } } }', 9, 'more than 9'],
  ['operations', 'query a { task { id } } query b { task { id } }', 1, 2],
  ['depth', '{ task { id } }', 1, 2],
  ['aliases', '{ a: task { b: id task: id } }', 2, 3],
  ['root-fields', 'query a { task { id } } query b { task { id } x: task { id } }', 1, 2],
  ['fields', '{ task { id previous { id } } }', 3, 4],
  ['introspection-depth', '{ __schema { types { fields { type { interfaces { name } } } } } }', 1, 2],
])('refuses more than is allowed by the limit %s, and nothing at it', (limit, query, allowed, found) => {
  const option = {
    'query-length': 'maxQueryLength',
    tokens: 'maxTokens',
    operations: 'maxOperations',
    depth: 'maxDepth',
    aliases: 'maxAliases',
    'root-fields': 'maxRootFields',
    fields: 'maxFields',
    'introspection-depth': 'maxIntrospectionDepth',
  }[limit] as string;
  const parsed = (most: number) => createQueryLimits({ introspection: true, [option]: most }).parse(query);
  expect(parsed(allowed)).toMatchObject({ extensions: { code: 'QUERY_REFUSED', limit, allowed, found } });
  expect(parsed(limit === 'tokens' ? 11 : Number(found))).not.toBeInstanceOf(GraphQLError);
});

test('refuses brackets that nest without end, and says where a text is no document', () => {
  const nested = (depth: number) =>
    limits.parse(`{ task(x: ${'['.repeat(depth)}${']'.repeat(depth)}) { id } }`);
  expect(nested(62)).not.toBeInstanceOf(GraphQLError);
  expect(nested(63)).toMatchObject({ extensions: { limit: 'nesting', allowed: 64, found: 65 } });
  expect(limits.parse('{ task {')).toMatchObject({
    extensions: { code: 'GRAPHQL_PARSE_FAILED' },
    locations: [{ line: 1, column: 9 }],
  });
});

test('counts in costs what fragments ask for each time, and sizes that are not below zero', () => {
  const text =
    '{ task { ...f x: previous { ...f ... on Task { id } ... { id } } } } fragment f on Task { a: id b: id }';
  expect([costIsRefused(text, 8), costIsRefused(text, 7)]).toEqual([false, true]);
  expect([costIsRefused('{ files(limit: 0) { url } }', 1), costIsRefused('{ task { id } }', 1)]).toEqual([
    false,
    true,
  ]);
  // The list below what has the size is not counted again, one beside it is.
  const below = '{ tasks(first: 2) { edges { node { outputs { url } } } } }';
  expect([costIsRefused(below, 17), costIsRefused(below, 16)]).toEqual([false, true]);
});

test('counts in costs a fragment anew where the length of its list is not given, and the largest of several sizes', () => {
  const twice =
    '{ tasks(first: 1) { ...c } task { related { ...c } } } fragment c on Connection { edges { node { id } } }';
  // tasks 1 + 1 x (edges 1 + 2), task 1 + related 1 + (edges 1 + 5 x 2)
  expect([costIsRefused(twice, 17), costIsRefused(twice, 16)]).toEqual([false, true]);
  for (const sizes of ['last: 9', 'first: 2, last: 9', 'last: 2, first: 9']) {
    const query = `{ pages(${sizes}) { url } }`;
    expect([costIsRefused(query, 10), costIsRefused(query, 9)]).toEqual([false, true]);
  }
});

test('counts in costs a list of the root, what is asked of one type, and each fragment once it is known', () => {
  const costs = (query: string) => [1, 2, 3, 4, 5, 6, 7, 8].find((most) => !costIsRefused(query, most));
  expect(costs('{ files { url } }')).toBe(1 + 5);
  expect(costs('{ node { ... on Named { files { url } } } }')).toBe(1 + (1 + 5));
  expect(costs('{ ...None task { id } }')).toBe(2);
  expect(costs('{ ...a } fragment a on Query { task { id } ...a }')).toBe(2);
});

test('allows without other limits what is usual', () => {
  const repeat = (text: (index: number) => string, count: number) =>
    Array.from({ length: count }, (_, index) => text(index)).join(' ');
  const nested = (open: string, count: number) => `${open.repeat(count)} x ${'}'.repeat(count)}`;
  const texts: Record<string, readonly [(count: number) => string, number]> = {
    'query-length': [(count) => `{ a } #${'x'.repeat(count - 7)}`, 100_000],
    tokens: [(count) => `{ a(b: [${repeat(() => '1', count - 9)}]) }`, 4_000],
    operations: [(count) => repeat((index) => `query q${index} { a }`, count), 20],
    depth: [(count) => `{ ${nested('a { ', count - 1)} }`, 15],
    aliases: [(count) => `{ b { ${repeat((index) => `x${index}: a`, count)} } }`, 30],
    'root-fields': [(count) => `{ ${repeat((index) => `a${index}`, count)} }`, 20],
    fields: [(count) => `{ b { ${repeat(() => 'a', count - 1)} } }`, 2_000],
    'introspection-depth': [(count) => `{ __schema { ${nested('fields { ', count)} } }`, 3],
  };
  for (const [limit, [text, most]] of Object.entries(texts)) {
    const refusedBy = [most, most + 1].map((count) => {
      const parsed = limits.parse(text(count));
      return parsed instanceof GraphQLError ? parsed.extensions['limit'] : null;
    });
    expect(refusedBy).toEqual([null, limit]);
  }
  const cost = (limit: number) =>
    validate(schema, parse(`{ files(limit: ${limit}) { url } }`), limits.validationRules).length;
  expect([cost(49_999), cost(50_000)]).toEqual([0, 1]);
});

test('introspection is refused where it is off', () => {
  const problems = (introspection: boolean) =>
    validate(
      schema,
      parse('{ __schema { types { name } } }'),
      createQueryLimits({ introspection }).validationRules,
    );
  expect([problems(true).length, problems(false).length > 0]).toEqual([0, true]);
});

test('a new document costs points by its length, its fields and how deep they are', () => {
  expect([0, 1, 1_000, 1_001].map((length) => countTextPoints('x'.repeat(length)))).toEqual([0, 1, 1, 2]);
  const fields = (count: number) => countFieldPoints(parse(`{ ${'id '.repeat(count)} }`));
  expect([fields(49), fields(50), fields(100)]).toEqual([0, 1, 2]);
  const deep = (depth: number) => countFieldPoints(parse(`${'{ a'.repeat(depth)}${' }'.repeat(depth)}`));
  // Of depth 5 there are 4 + 3 + 2 + 1 levels and 5 fields.
  expect([deep(4), deep(5)]).toEqual([0, 1]);
  expect(countFieldPoints(parse(`{ __schema { ${'a '.repeat(100)} } }`))).toBe(0);
});
