import { describe, expect, it } from 'vitest';

import { JsonSyntaxError, parseWithLines, parseYamlWithLines } from './parse-with-lines.ts';

/** Where and why a text is refused. */
function refusal(read: (text: string) => unknown, text: string): string {
  try {
    read(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return `${error.line} ${error.message}`;
    throw error;
  }
  return 'is taken';
}

describe('JSON that people write', () => {
  const text = '{\n "a": [\n  1,\n  {"b": 2}\n ],\n // a comment\n "c": 3\n}';

  it('is read with the line of each part, of its nearest parent where there is none', () => {
    const { value, findLine, repeated } = parseWithLines(text);
    expect(value).toEqual({ a: [1, { b: 2 }], c: 3 });
    expect(repeated).toEqual([]);
    const paths = [[], ['a'], ['a', 0], ['a', 1, 'b'], ['c'], ['a', 1, 'none'], ['a', 7], ['none', 'x']];
    expect(paths.map(findLine)).toEqual([1, 2, 3, 4, 7, 4, 2, 1]);
  });

  it('says which names come twice in one object', () => {
    const { repeated } = parseWithLines('{"a": {"b": 1, "b": {"c": 1, "c": 2}}, "x": [1, {"d": 1, "d": 1}]}');
    expect(repeated).toEqual([
      ['a', 'b'],
      ['a', 'b', 'c'],
      ['x', 1, 'd'],
    ]);
    expect(parseWithLines('{"a": {"c": 1}, "b": {"c": 1}}').repeated).toEqual([]);
  });

  it.each([
    ['', '1 ends too early: something is not closed'],
    ['{"a": [1,\n 2', '2 ends too early: something is not closed'],
    ['{"a" 1}', '1 needs a colon after a name'],
    ['{"a": 1\n "b": 2}', '2 needs a comma or "]" or "}" here'],
    ['{"a": 1}\n\n{}', '3 must end after the closing brace: remove what follows'],
    ['{"a": 1,\n}', '2 has a comma too many before "}"'],
    ['[1,\n]', '2 has a comma too many before "]"'],
    [
      '{"a": nothing-at-all}',
      '1 has "nothing-at-a", which is no JSON: texts and names stand in double quotes',
    ],
    [`${'['.repeat(64)}${']'.repeat(64)}`, 'is taken'],
    [`\n${'[{"a":'.repeat(32)}[`, '2 is nested too deeply'],
    [`[${'[[]],{"a":{}},'.repeat(100)}1]`, 'is taken'],
  ])('%j: %s', (wrong, expected) => {
    expect(refusal(parseWithLines, wrong)).toBe(expected);
  });
});

describe('YAML', () => {
  it('is read with the line of each part, of its nearest parent where there is none', () => {
    const { value, findLine, repeated } = parseYamlWithLines('a:\n  - 1\n  - b: 2\nc: 3\n5: x\n');
    expect(value).toEqual({ a: [1, { b: 2 }], c: 3, 5: 'x' });
    expect(repeated).toEqual([]);
    const paths = [[], ['a'], ['a', 0], ['a', 1, 'b'], ['c'], ['a', 1, 'none'], ['a', 7], ['none', 'x']];
    expect(paths.map(findLine)).toEqual([1, 1, 2, 3, 4, 3, 1, 1]);
  });

  it('is refused at its first mistake, names that come twice among them, and may not unfold without end', () => {
    expect(refusal(parseYamlWithLines, 'a: 1\nb: [1\n')).toMatch(/^[23] is no YAML: /);
    expect(refusal(parseYamlWithLines, 'a: 1\na: 2\n')).toMatch(/^2 is no YAML: .*unique/);
    const layers = Array.from({ length: 9 }, (_, index) => {
      const before = index === 0 ? 'x' : `*l${index - 1}`;
      return `l${index}: &l${index} [${Array(9).fill(before).join(', ')}]`;
    });
    expect(() => parseYamlWithLines(layers.join('\n'))).toThrow(/alias/i);
  });
});
