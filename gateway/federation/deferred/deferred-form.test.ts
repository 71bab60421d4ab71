import { buildSchema, parse, print } from 'graphql';
import { describe, expect, it } from 'vitest';

import { operationContext } from '../operation/operation-context.ts';
import { deferConditions, deferredForm, withoutDefer } from './deferred-form.ts';

const schema = buildSchema('type Query { a: A b: Int } type A { a: A b: Int c: Int }');
const text = (document: Parameters<typeof print>[0]) => print(document).replaceAll(/\s+/g, ' ');

function taken(query: string, variables: Readonly<Record<string, unknown>> = {}) {
  const document = parse(query);
  const form = deferredForm(operationContext({ schema, document, operationName: undefined }), variables);
  return (
    form && {
      planned: text(form.planned),
      first: text(form.first),
      parts: form.parts.map(({ document: part, ...rest }) => ({ ...rest, document: text(part) })),
    }
  );
}

describe('an operation with @defer', () => {
  it('is known by its conditions, and is one without when they are gone', () => {
    expect(deferConditions(parse('{ a { b } b @skip(if: true) }'))).toBeNull();
    const query = `query ($y: Boolean, $x: Boolean) { ... @defer(if: $y, label: "l") { b } a @include(if: $z) { ...F @defer(if: $x) ...F @defer(if: $y) } }
      fragment F on A { b }`;
    expect(deferConditions(parse(query))).toEqual(['x', 'y']);
    expect(deferConditions(parse('{ ... @defer { b } }'))).toEqual([]);
    expect(text(withoutDefer(parse('{ a { ... @defer @include(if: true) { b } } }')))).toBe(
      '{ a { ... @include(if: true) { b } } }',
    );
  });

  it('is taken apart: what comes first, and each part by the names that lead to it', () => {
    const query = `{ x: a { b ...F @defer(label: "far") } ... on Query @defer @include(if: true) { b } }
      fragment F on A { c a { ... @defer(label: "deep") { b } } }`;
    expect(taken(query)).toEqual({
      planned:
        '{ x: a { b ... on A @defer(label: "part0") { c a { ... @defer(label: "part1") { b } } } } ' +
        '... on Query @include(if: true) @defer(label: "part2") { b } }',
      first:
        '{ x: a { b ... on A @skip(if: true) { c a { ... @skip(if: true) { b } } } } ... on Query @skip(if: true) { b } }',
      parts: [
        {
          key: 'part0',
          label: 'far',
          parent: null,
          path: ['x'],
          selectionSet: expect.anything(),
          document: '{ x: a { ... on A { c a { ... @skip(if: true) { b } } } } }',
        },
        {
          key: 'part1',
          label: 'deep',
          parent: 'part0',
          path: ['x', 'a'],
          selectionSet: expect.anything(),
          document: '{ x: a { ... on A { a { ... { b } } } } }',
        },
        {
          key: 'part2',
          label: undefined,
          parent: null,
          path: [],
          selectionSet: expect.anything(),
          document: '{ ... on Query @include(if: true) { b } }',
        },
      ],
    });
  });

  it.each([
    ['{ ... @defer(if: true) { b } }', {}, true],
    ['{ ... @defer(if: false) { b } }', {}, false],
    ['query ($x: Boolean) { ... @defer(if: $x) { b } }', {}, true],
    ['query ($x: Boolean) { ... @defer(if: $x) { b } }', { x: null }, true],
    ['query ($x: Boolean) { ... @defer(if: $x) { b } }', { x: false }, false],
    ['query ($x: Boolean = false) { ... @defer(if: $x) { b } }', {}, false],
    ['query ($x: Boolean = false) { ... @defer(if: $x) { b } }', { x: true }, true],
    ['query ($x: Boolean = true) { ... @defer(if: $x) { b } }', {}, true],
    ['{ b }', {}, false],
    ['{ ...None @defer }', {}, false],
  ])('%s with %j is deferred: %s', (query, variables, isDeferred) => {
    expect(taken(query, variables) !== null).toBe(isDeferred);
  });

  it('has thirty parts at most, and is not taken apart when it is too large', () => {
    const many = taken(`{ ${'... @defer { b } '.repeat(31)} }`);
    expect([many?.parts.length, many?.planned.split('@defer').length]).toEqual([30, 31]);
    // The fragment counts as one, and what is in it.
    expect(taken(`{ ... @defer { ${'b '.repeat(4_999)} } }`)).not.toBeNull();
    expect(taken(`{ ... @defer { ${'b '.repeat(5_000)} } }`)).toBeNull();
  });
});
