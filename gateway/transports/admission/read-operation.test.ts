import { GraphQLError } from 'graphql';
import { expect, it } from 'vitest';

import { readOperation, readUrlOperation } from './read-operation.ts';

const read = (operation: ReturnType<typeof readOperation>) =>
  operation instanceof GraphQLError ? operation.message : operation;
const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);

it.each([
  [{ query: '{ a }' }, { query: '{ a }', operationName: undefined, variables: {} }],
  [
    { query: '{ a }', operationName: '', variables: null, extensions: {} },
    { query: '{ a }', operationName: undefined, variables: {} },
  ],
  [
    { query: '{ a }', operationName: 'A', variables: { a: nested(63) } },
    { query: '{ a }', operationName: 'A', variables: { a: nested(63) } },
  ],
  [
    { query: '{ a }', variables: { a: nested(64) } },
    expect.stringMatching(/nesting is more than 64, at most 64/),
  ],
  [{ query: '{ a }', operationName: 7 }, 'operationName must be a text'],
  [{ query: '{ a }', variables: [] }, 'variables must be an object'],
  [{ query: '{ a }', variables: 'x' }, 'variables must be an object'],
  [{ query: '' }, 'query must be a text that is not empty'],
  [{ query: null }, 'query must be a text that is not empty'],
  [[{}, {}], expect.stringMatching(/batch is 2, at most 1/)],
  ['{ a }', 'send a JSON object with a query'],
  [null, 'send a JSON object with a query'],
  [new GraphQLError('handed in'), 'handed in'],
])('%j is read as %j', (body, expected) => {
  expect(read(readOperation(body))).toEqual(expected);
});

it.each([
  ['/graphql?query={a}', { query: '{a}', operationName: undefined, variables: {} }],
  ['/graphql?query={a}&variables=', { query: '{a}', operationName: undefined, variables: {} }],
  [
    '/graphql?query={a}&variables={"b":1}&operationName=A',
    { query: '{a}', operationName: 'A', variables: { b: 1 } },
  ],
  ['/graphql?query={a}&variables={', 'variables must be a JSON object'],
  ['/graphql', 'query must be a text that is not empty'],
])('%s is read as %j', (url, expected) => {
  expect(read(readUrlOperation(url))).toEqual(expected);
});
