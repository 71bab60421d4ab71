import { describe, expect, it } from 'vitest';

import { selectTests } from './selection.ts';

const importers = new Map([
  ['a/one.ts', new Set(['a/index.ts', 'a/one.test.ts'])],
  ['a/index.ts', new Set(['b/far.test.ts', 'b/long.test.ts'])],
  ['a/two.ts', new Set(['a/two.test.ts'])],
]);
const tests = ['a/one.test.ts', 'a/two.test.ts', 'b/far.test.ts', 'b/long.test.ts', 'test/readme.test.ts'];
const readText = (file: string) => (file === 'a/two.test.ts' ? `read('sound.wav')` : '');
const select = (...changed: string[]) =>
  selectTests(changed, tests, { importers, readText, left: new Set(['b/long.test.ts']) });

describe('the tests of what has changed', () => {
  it('are the nearest by their imports, without those that take long', () => {
    expect(select('a/one.ts')).toEqual(['a/one.test.ts', 'b/far.test.ts']);
  });

  it('begin with the nearest of every file, none twice', () => {
    expect(select('a/one.ts', 'a/two.ts')).toEqual(['a/one.test.ts', 'a/two.test.ts', 'b/far.test.ts']);
  });

  it('are those that changed, long ones too', () => {
    expect(select('b/long.test.ts')).toEqual(['b/long.test.ts']);
  });

  it('are those that name a file which is no module', () => {
    expect(select('samples/sound.wav')).toEqual(['a/two.test.ts']);
    expect(select('docs/clients.md')).toEqual(['test/readme.test.ts']);
  });
});
