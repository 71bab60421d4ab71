import { describe, expect, it } from 'vitest';

import { measureNesting, nestsDeeperThan } from './inspect-document.ts';

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
});
