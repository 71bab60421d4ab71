import { buildSchema, execute, GraphQLError, isScalarType, Kind, parse, type ValueNode } from 'graphql';
import { expect, it } from 'vitest';

import { createCompiledExecutor } from './compiled-executor.ts';

const schema = buildSchema(`
  scalar Moment
  enum Mood { GLAD SAD }
  input Range { from: Moment until: Moment size: Int }
  type Query {
    at(moment: Moment moments: [Moment!] range: Range ranges: [[Range!]!] size: Int mood: Mood): String
    must(moment: Moment!): String
    two(a: Int = 5 b: String): String
  }
`);
const moment = schema.getType('Moment');
if (!isScalarType(moment)) throw new Error('no scalar');
moment.parseLiteral = (node: ValueNode) => {
  if (node.kind === Kind.STRING && node.value === 'now') return 'now';
  if (node.kind === Kind.STRING && node.value === 'broken') throw new TypeError('a mistake of ours');
  throw new GraphQLError('a Moment is "now"');
};
const executor = createCompiledExecutor(schema);
const echo = (values: object) => JSON.stringify(values);
const rootValue = { at: echo, must: echo, two: echo };

/** What is answered, and what graphql-js answers. */
async function ask(selection: string, variables: Record<string, unknown> = {}, definitions = '') {
  const document = parse(`query ${definitions} { ${selection} }`);
  const request = { document, variableValues: variables, contextValue: {}, rootValue };
  return [await executor.execute(request), await execute({ schema, ...request })] as const;
}

it.each([
  ['at(moment: "x")', 'a Moment is "now"'],
  ['at(size: 1, moment: "x")', 'a Moment is "now"'],
  ['must(moment: "x")', 'a Moment is "now"'],
  ['at(moments: ["now", "x"])', 'a Moment is "now"'],
  ['at(moments: "x")', 'a Moment is "now"'],
  ['at(range: { from: "now", until: "x" })', 'until: a Moment is "now"'],
  ['at(range: { size: 1, from: 7, until: "x" })', 'from: a Moment is "now"'],
  ['at(ranges: [[{ from: "now" }], [{ until: "x" }]])', 'until: a Moment is "now"'],
  ['at(range: { other: 1, from: "x" })', 'from: a Moment is "now"'],
])('says of %s what the scalar says', async (selection, reason) => {
  const [ours, theirs] = await ask(selection);
  const plain = theirs.errors?.[0]?.message.replace(/\.$/, '');
  expect(ours.errors?.map(({ message }) => message)).toEqual([`${plain}; ${reason}`]);
  expect(ours.errors?.[0]).toMatchObject({ path: theirs.errors?.[0]?.path });
  expect(ours.errors?.[0]?.locations).toEqual(theirs.errors?.[0]?.locations);
});

it.each([
  'at(size: "x")',
  'at(mood: BAD)',
  'at(range: "x")',
  'at(range: "x", ranges: [[{ from: "x" }]])',
  'at(range: { size: "x" })',
  'at(range: { other: "x", size: "x" })',
  'at(moment: "broken")',
  'at(other: "x", mood: BAD)',
  'must(moment: null)',
  'must(moment: $missing)',
  'must',
  'at(moments: [null])',
])('says of %s what graphql-js says', async (selection) => {
  const [ours, theirs] = await ask(selection);
  expect(theirs.errors).toHaveLength(1);
  expect(JSON.stringify(ours)).toBe(JSON.stringify(theirs));
});

it.each([
  ['two(a: $a, b: $b)', { a: 1, b: 'x' }],
  ['two(b: $b, a: $a)', { a: 1, b: 'x' }],
  ['two(a: $a, b: $b)', { a: null, b: 'x' }],
  ['two(a: $a, b: $b)', { b: 'x' }],
  ['two(a: $a, b: $b)', {}],
  ['two(a: $a)', { a: 1 }],
  ['two(a: $a)', {}],
  ['two(a: $a, b: "x")', { a: 1 }],
  ['two(a: 1, b: $b)', { a: 2, b: 'x' }],
  ['two(b: $b)', { b: 'x' }],
  ['two', {}],
])('reads %s with %j as graphql-js does', async (selection, variables) => {
  const [ours, theirs] = await ask(selection, variables, '($a: Int, $b: String)');
  expect(theirs.errors).toBeUndefined();
  expect(ours).toEqual(theirs);
});

it('leaves out a variable that is not given, also one whose name every object inherits', async () => {
  const given: unknown[] = [];
  const two = (values: object) => void given.push(values);
  const definitions = '($toString: Int, $constructor: String, $range: Range)';
  await executor.execute({
    document: parse(`query ${definitions} { two(a: $toString, b: $constructor) at(range: $range) }`),
    variableValues: { range: { size: 1 } },
    contextValue: {},
    rootValue: { two },
  });
  expect(given).toEqual([{ a: 5 }]);
});
