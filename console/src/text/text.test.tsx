import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { expect, it } from 'vitest';

import { providerTexts } from '../pages/models/texts.ts';
import { chatTexts } from '../pages/studio/chat/texts.ts';
import enLater from './en-later.json';
import enFirst from './en.json';
import { t, textOr } from './text.ts';
import zhLater from './zh-later.json';
import zhFirst from './zh.json';

const en: Readonly<Record<string, string>> = { ...enFirst, ...enLater, ...chatTexts.en, ...providerTexts.en };
const zh: Readonly<Record<string, string>> = { ...zhFirst, ...zhLater, ...chatTexts.zh, ...providerTexts.zh };

it('a text has the values of its names, and the form that its number needs', () => {
  expect(t('gallery.deleteMany', { count: 1 })).toBe('Delete 1 file for good?');
  expect(t('gallery.deleteMany', { count: 1_200 })).toBe('Delete 1,200 files for good?');
  expect(t('usage.of', { spent: '$1', amount: '$2' })).toBe('$1 of $2');
  expect(textOr('refusal.NEW_CODE', 'other')).toBe('other');
});

it('every text of one language is in the other, in the same file, with the same names', () => {
  expect(Object.keys(zhFirst)).toEqual(Object.keys(enFirst));
  expect(Object.keys(zhLater)).toEqual(Object.keys(enLater));
  const listNames = (text: string) =>
    [...new Set([...text.matchAll(/\{(\w+)[,}]/g)].map(([, name = '']) => name))]
      .toSorted((one, other) => one.localeCompare(other))
      .join();
  const differing = Object.keys(en).filter((key) => listNames(en[key] ?? '') !== listNames(zh[key] ?? ''));
  expect(differing).toEqual([]);
});

it('every text is in its language: a Chinese one is in Chinese letters but for names and signs', () => {
  const isChinese = (text: string) => /\p{Script=Han}/u.test(text);
  const NAMES = ['ComfyUI', 'CSV', 'ID', 'JSON'];
  const hasWords = (text: string) => /[a-z]/i.test(text.replaceAll(/\{\w+\}/g, ''));
  expect(
    Object.values(zh).filter((text) => !isChinese(text) && hasWords(text) && !NAMES.includes(text)),
  ).toEqual([]);
  expect(Object.values(en).filter(isChinese)).toEqual([]);
});

it('the first view has all of its texts: none is in the file that is loaded later', () => {
  const files = importedBy(path.join(import.meta.dirname, '../main.tsx'));
  expect(files.size).toBeGreaterThan(50);
  const missing = [...files].flatMap(([file, source]) => {
    const names = new Set([...source.matchAll(/'([\w.]+)'/g)].map(([, name]) => name));
    const starts = [...source.matchAll(/`(\w[\w.]*\.)\$\{/g)].map(([, start = '']) => start);
    return Object.keys(enLater)
      .filter((key) => names.has(key) || starts.some((start) => key.startsWith(start)))
      .map((key) => `${key} in ${path.basename(file)}`);
  });
  expect(missing).toEqual([]);
});

/** The sources that are imported with a file, by their paths. */
function importedBy(file: string, found = new Map<string, string>()): ReadonlyMap<string, string> {
  if (found.has(file) || !/\.tsx?$/.test(file) || !existsSync(file)) return found;
  const source = readFileSync(file, 'utf8');
  found.set(file, source);
  for (const [, name = ''] of source.matchAll(/^(?:import|export)(?! type)[^;]*?'(\.[^']+)';/gms)) {
    importedBy(path.resolve(path.dirname(file), name), found);
  }
  return found;
}
