import { describe, expect, it } from 'vitest';

import { invalidJsonOffset } from './json.ts';

describe('invalidJsonOffset', () => {
  it.each([
    ['{"a": x}', 6],
    ['{"a": 1', 7],
    ['{"a" 1}', 5],
    ['{a: 1}', 1],
    ['[1, 2,]', 6],
    ['{"a": 1,}', 8],
    ['[1 2]', 3],
    ['[1}', 2],
    ['{} {}', 3],
    ['"never ends', 0],
    ["{'a': 1}", 1],
    ['[01]', 2],
    ['[tru]', 1],
    ['{"a": "\u0001"}', 6],
    ['{"a": "\\x"}', 6],
    [' NaN', 1],
    ['[[[]]', 5],
  ])('finds where %j goes wrong', (text, offset) => {
    expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
    expect(invalidJsonOffset(text)).toBe(offset);
  });

  it('reaches the end of what is fine, however long and deep', () => {
    const deep = '['.repeat(500_000);
    expect(invalidJsonOffset(`${deep}1${']'.repeat(499_999)}`)).toBe(1_000_000);
    expect(invalidJsonOffset(`"${'x'.repeat(1_000_000)}" y`)).toBe(1_000_003);
  });
});
