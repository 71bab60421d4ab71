import { type FragmentDefinitionNode, Kind, type OperationDefinitionNode, parse } from 'graphql';
import { describe, expect, it } from 'vitest';

import { documentWeight, listRootFields, measureNesting, nestsDeeperThan } from './inspect-document.ts';

describe('the nesting of a text', () => {
  it.each([
    ['{ a }', 1],
    ['{ a(b: [[1], {c: 2}]) { d } }', 4],
    ['{ a(b: "[[[[ \\" [[[") }', 2],
    ['{ a(b: """[[[ \\""" " "" [[[""") }', 2],
    ['{ a # [[[[\n }', 1],
    ['[', 1],
    ['"""[[', 0],
    ['"[[\n[', 1],
    [']]]][[[[[', 1],
  ])('of %j is %i', (text, depth) => {
    expect(measureNesting(text)).toBe(depth);
  });

  it('is found in a million brackets, strings and quotes at once', () => {
    expect(measureNesting('['.repeat(1_000_000))).toBe(1_000_000);
    expect(measureNesting('"'.repeat(1_000_000))).toBe(0);
    expect(measureNesting('"""\\'.repeat(250_000))).toBe(0);
  });
});

it('the nesting of a value is counted over lists and objects', () => {
  const nested = (depth: number): unknown => JSON.parse(`${'[{"a":'.repeat(depth)}1${'}]'.repeat(depth)}`);
  expect(nestsDeeperThan(nested(32), 64)).toBe(false);
  expect(nestsDeeperThan([nested(32)], 64)).toBe(true);
  expect(nestsDeeperThan(nested(200_000), 64)).toBe(true);
  expect(nestsDeeperThan({ file: new Date(), text: 'x' }, 1)).toBe(false);
  expect(nestsDeeperThan({ file: Object.assign(new Date(), { inner: {} }) }, 1)).toBe(false);
  expect(nestsDeeperThan({ a: Object.assign(Object.create(null) as object, { b: {} }) }, 2)).toBe(true);
  expect([nestsDeeperThan(null, 0), nestsDeeperThan('text', 0), nestsDeeperThan([], 0)]).toEqual([
    false,
    false,
    true,
  ]);
});

it('a document weighs by its nodes, and by its fields at every place where they stand', () => {
  const weigh = (text: string) => documentWeight(parse(text));
  // The document, its operation, selection set, field and name; then the field.
  expect(weigh('{ a }')).toBe(4_000 + 5 * 300 + 3_000);
  // A field and its name more, no further field: what is spread nowhere is run nowhere.
  const unused = weigh('{ a } fragment F on T { b }');
  expect(unused - weigh('{ a }')).toBe(7 * 300);
  // Three nodes for a spread of one field, then for one of the same again.
  expect(weigh('{ a ...F } fragment F on T { b }') - unused).toBe(2 * 300 + 3_000);
  expect(weigh('{ a ...F ...F } fragment F on T { b }') - unused).toBe(4 * 300 + 6_000);
  expect(weigh('{ ...None }')).toBe(4_000 + 5 * 300);
  expect(weigh('{ ... { a } }')).toBe(4_000 + 7 * 300 + 3_000);
  expect(weigh('{ a { b } }')).toBe(4_000 + 8 * 300 + 6_000);
});

it('the root fields of an operation are those of its fragments too, each as often as it is asked', () => {
  const { definitions } = parse(
    '{ a x: a ... { b } ...F ...F ...None } fragment F on Query { c ...G ...F } fragment G on Query { d { e } }',
  );
  const fragments = new Map(
    definitions
      .filter((one): one is FragmentDefinitionNode => one.kind === Kind.FRAGMENT_DEFINITION)
      .map((one) => [one.name.value, one]),
  );
  const fields = listRootFields(definitions[0] as OperationDefinitionNode, (name) => fragments.get(name));
  expect(fields.toSorted()).toEqual(['a', 'a', 'b', 'c', 'd']);
});
