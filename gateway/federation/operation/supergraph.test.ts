import { parse } from 'graphql';
import { expect, it } from 'vitest';

import { operationContext } from './operation-context.ts';
import { readRequirements, withResolvableKeys } from './supergraph.ts';

it('what fields need of others are all names in their requirements', () => {
  const { names } = readRequirements(`
    directive @join__field(graph: String, requires: String) repeatable on FIELD_DEFINITION
    interface I { a: Int @join__field(requires: "ofInterface") }
    type A {
      a: Int @join__field(graph: X) @join__field(graph: Y, requires: "one two { three } ... on B { four }")
      b: Int @other(requires: "no") @join__field(provides: "no")
    }
    input C { a: Int }
  `);
  expect([...names].toSorted()).toEqual(['four', 'ofInterface', 'one', 'three', 'two']);
});

it('keys that a subgraph can not resolve are left out where it has one that it can', () => {
  const key = (graph: string, fields: string, resolvable?: boolean) =>
    `@join__type(graph: ${graph}, key: "${fields}"${resolvable === undefined ? '' : `, resolvable: ${resolvable}`})`;
  const sdl = (...keys: string[]) => `type A ${keys.join(' ')} @other { a: Int }`;
  const kept = (...keys: string[]) =>
    withResolvableKeys(sdl(...keys))
      .match(/key: "\w+"/g)
      ?.map((one) => one.slice(6, -1));
  expect(kept(key('X', 'id'), key('X', 'sku', false), key('Y', 'id', false))).toEqual(['id', 'id']);
  expect(kept(key('X', 'id', true), key('X', 'sku', false))).toEqual(['id']);
  expect(withResolvableKeys(sdl(key('X', 'id'), key('X', 'sku', false)))).toContain('@other');
  // Where it has no other, or one without a key, they stay, and so does the text.
  for (const keys of [
    [key('X', 'id', false)],
    ['@join__type(graph: X)', key('X', 'id', false)],
    [key('X', 'id'), key('Y', 'id', false)],
    [key('X', 'id')],
  ])
    expect(withResolvableKeys(sdl(...keys))).toBe(sdl(...keys));
  const both = `interface I ${key('X', 'id')} ${key('X', 'sku', false)} { a: Int } union U = A`;
  expect(withResolvableKeys(both)).not.toContain('sku');
});

it('an operation is the one that is named, or the only one', () => {
  const document = parse('query A { a } query B { b } fragment F on Query { a }');
  const context = (operationName: string | undefined, text = document) =>
    operationContext({ schema: undefined as never, document: text, operationName });
  expect([context('B').operation.name?.value, Object.keys(context('A').fragments)]).toEqual(['B', ['F']]);
  expect(context(undefined, parse('{ a }')).operation.kind).toBe('OperationDefinition');
  expect(context('', parse('query A { a }')).operation.name?.value).toBe('A');
  const refused = (message: string) =>
    expect.objectContaining({ code: 'BAD_USER_INPUT', field: 'operationName', message });
  expect(() => context('C')).toThrow(refused('Unknown operation named "C".'));
  expect(() => context(undefined)).toThrow(
    refused('Must provide operation name if query contains multiple operations.'),
  );
  expect(() => context(undefined, parse('fragment F on Query { a }'))).toThrow(
    refused('Unknown operation named "".'),
  );
});
