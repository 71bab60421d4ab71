import {
  buildSchema,
  execute,
  type GraphQLEnumType,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLScalarType,
  parse,
} from 'graphql';
import { expect, it } from 'vitest';

import { createCompiledExecutor } from './compiled-executor.ts';

/** What resolvers may return, and what becomes of it here and with graphql-js. */

const schema = buildSchema(`
  interface Named { name: String }
  type User implements Named { name: String friend: Named tags: [String] must: String! }
  type Group implements Named { name: String }
  type Other { name: String }
  scalar Odd
  enum Mood { GLAD SAD }
  type Query {
    named: Named all: [Named] users: [User!] user: User sure: User!
    int: Int float: Float id: ID text: String flag: Boolean mood: Mood odd: Odd sureOdd: Odd!
    list: [Int] lists: [[Int!]!] far(odd: Odd, mood: Mood, ids: [ID!]): String
  }
  type Mutation { first: Int second: Int! third: Int }
`);
const named = schema.getType('Named') as GraphQLInterfaceType;
const group = schema.getType('Group') as GraphQLObjectType;
const odd = schema.getType('Odd') as GraphQLScalarType;
odd.serialize = (value) => (value === 'none' ? undefined : value === 'null' ? null : `odd ${String(value)}`);
odd.parseValue = (value) => {
  if (value === 'broken') throw new Error('no Odd');
  return value === 'none' ? undefined : `parsed ${String(value)}`;
};
(schema.getType('Mood') as GraphQLEnumType).getValues().forEach((value) => (value.value = value.name));
const executor = createCompiledExecutor(schema);

async function both(
  query: string,
  rootValue: object,
  variableValues = {},
): Promise<readonly [string, string]> {
  const request = { document: parse(query), variableValues, contextValue: {}, rootValue };
  const [ours, theirs] = [await executor.execute(request), await execute({ schema, ...request })];
  return [JSON.stringify(ours), JSON.stringify(theirs)];
}

const late = <Value>(value: Value): Promise<Value> => Promise.resolve(value);

it.each<[string, () => unknown]>([
  ['its name', () => 'User'],
  ['its name, later', () => late('User')],
  ['nothing', () => undefined],
  ['null', () => null],
  ['a type itself', () => group],
  ['a number', () => 7],
  ['a name of nothing', () => 'Nobody'],
  ['a name of no object', () => 'Mood'],
  ['a name of another object', () => 'Other'],
  ['its own interface', () => 'Named'],
  ['a failure', () => Promise.reject(new Error('who knows'))],
])('a value of an interface whose type is said to be %s', async (_, resolveType) => {
  named.resolveType = resolveType as () => string;
  for (const query of [
    '{ named { __typename name } }',
    '{ all { ... on User { name } ... on Group { name } } }',
  ]) {
    const all = [{ name: 'a' }, null, late({ name: 'b' })];
    const [ours, theirs] = await both(query, { named: { name: 'n' }, all });
    expect(ours).toBe(theirs);
  }
  named.resolveType = undefined;
});

it.each<[string, () => unknown]>([
  ['says its type', () => ({ __typename: 'Group', name: 'g' })],
  ['says a type that is none', () => ({ __typename: 'Nobody', name: 'g' })],
  ['says its type by a number', () => ({ __typename: 7, name: 'g' })],
  ['says none', () => ({ name: 'g' })],
  ['is a text', () => 'text'],
  ['is a function', () => () => ({ __typename: 'User', name: 'f' })],
  ['is a function that says a type', () => Object.assign(() => 1, { __typename: 'Group' })],
  ['is an error', () => new Error('an error as a value')],
  ['is a failure', () => Promise.reject(new Error('failed'))],
])('a value of an interface without a resolver of types that %s', async (_, make) => {
  for (const query of ['{ named { __typename name } }', '{ all { __typename name } }']) {
    const [ours, theirs] = await both(query, { named: make, all: () => [make()] });
    expect(ours).toBe(theirs);
  }
});

it.each<[string, (value: unknown) => unknown]>([
  ['is', () => true],
  ['is not', () => false],
  ['is, later', () => late(true)],
  ['is not, later', () => late(false)],
  ['is something', () => 1],
  ['is nothing', () => undefined],
])('an object whose type says that it %s of it', async (_, isTypeOf) => {
  const user = schema.getType('User') as GraphQLObjectType;
  user.isTypeOf = isTypeOf as never;
  for (const query of ['{ user { name } }', '{ users { name } }', '{ sure { must } }']) {
    const one = { name: 'u', must: 'm' };
    const [ours, theirs] = await both(query, { user: one, users: [one, late(one)], sure: one });
    expect(ours).toBe(theirs);
  }
  user.isTypeOf = undefined;
});

const VALUES: readonly unknown[] = [
  undefined, null, 0, 1, 1.5, 2 ** 31, -(2 ** 31), -(2 ** 31) - 1, Number.NaN, Infinity, '', '7', 'text', 'GLAD', 'none', 'null',
  true, false, [], {}, [1, null, 'x'], [[1], [2, null]], new Set([1, 2]), new Error('as a value'), Symbol.iterator,
]; // prettier-ignore

it.each(['int', 'float', 'id', 'text', 'flag', 'mood', 'odd', 'sureOdd', 'list', 'lists'])(
  'values of all kinds in the field %s',
  async (name) => {
    for (const value of VALUES) {
      for (const given of [value, late(value), () => value, async () => value]) {
        const [ours, theirs] = await both(`{ ${name} }`, { [name]: given });
        expect(ours).toBe(theirs);
      }
    }
  },
);

it.each([
  ['odd', 'Odd', ['x', 'none', 'broken', null, undefined, 7]],
  ['mood', 'Mood', ['GLAD', 'BAD', '', 7, null, undefined, {}]],
  ['ids', '[ID!]', [['a'], ['a', 7], [null], 'a', null, undefined, []]],
] as const)('variables of all kinds in the argument %s', async (name, type, values) => {
  const rootValue = { far: (given: object) => JSON.stringify(given) };
  for (const value of values) {
    const variables = value === undefined ? {} : { v: value };
    const [ours, theirs] = await both(`query ($v: ${type}) { far(${name}: $v) }`, rootValue, variables);
    expect(ours).toBe(theirs);
    const sure = await both(`query ($v: ${type}!) { far(${name}: $v) }`, rootValue, variables);
    expect(sure[0]).toBe(sure[1]);
  }
});

it.each([
  '{ user { ...F ...F friend { ...N } } } fragment F on User { name } fragment N on Named { name }',
  '{ user { ... { name } ... @include(if: true) { tags } ... on Named { name } ... on Group { name } } }',
  '{ user { ...Missing name } }',
  'query ($yes: Boolean!) { user { name @include(if: $yes) tags @skip(if: $yes) } }',
  'query ($yes: Boolean) { user { name @include(if: $yes) } }',
  '{ a: user { name } a: user { tags } none: nothing }',
  '{ user { must } sure { must } }',
])('selections of all kinds: %s', async (query) => {
  const user = { name: 'u', tags: ['t', null], must: null, friend: { __typename: 'Group', name: 'g' } };
  for (const variables of [{ yes: true }, { yes: false }, {}, { yes: 'x' }]) {
    const [ours, theirs] = await both(query, { user, sure: late(user) }, variables);
    expect(ours).toBe(theirs);
  }
});

it.each([
  [{ first: 1, second: 2, third: 3 }],
  [{ first: () => late(1), second: null, third: 3 }],
  [{ first: () => Promise.reject(new Error('no')), second: () => late(2), third: late(3) }],
  [{ first: 1, second: () => Promise.reject(new Error('no')), third: 3 }],
])('fields of a mutation one after the other, well or not', async (rootValue) => {
  const [ours, theirs] = await both('mutation { first second third }', rootValue);
  expect(ours).toBe(theirs);
});
