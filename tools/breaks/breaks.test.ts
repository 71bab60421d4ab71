import { readFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { edited } from './break.ts';
import { CHAOS_BREAKS } from './chaos-breaks.ts';
import { MODEL_BREAKS } from './model-breaks.ts';

const root = path.resolve(import.meta.dirname, '../..');

describe.each([
  ['the model', MODEL_BREAKS],
  ['chaos', CHAOS_BREAKS],
])('the breaks that %s must find', (_tool, breaks) => {
  it('are ten at least, each with a name of its own', () => {
    expect(breaks.length).toBeGreaterThanOrEqual(10);
    expect(new Set(breaks.map(({ name }) => name)).size).toBe(breaks.length);
  });

  it.each(breaks)('$name: changes code that is there', ({ edits }) => {
    const sources = new Map<string, string>();
    for (const edit of edits) {
      const source = sources.get(edit.file) ?? readFileSync(path.join(root, edit.file), 'utf8');
      sources.set(edit.file, edited(source, edit));
    }
    for (const [file, source] of sources)
      expect(source).not.toBe(readFileSync(path.join(root, file), 'utf8'));
  });
});

it('refuses an edit whose text is missing, or there twice', () => {
  const edit = { file: 'it.ts', from: 'b', to: 'c' };
  expect(edited('abd', edit)).toBe('acd');
  expect(() => edited('ad', edit)).toThrow('it.ts does not hold once: b');
  expect(() => edited('abab', edit)).toThrow('it.ts does not hold once: b');
});
