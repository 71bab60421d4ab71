import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { afterEach, expect, it, vi } from 'vitest';

import { providerTexts } from '../pages/models/texts.ts';
import { chatTexts } from '../pages/studio/chat/texts.ts';
import enLater from './en-later.json';
import enFirst from './en.json';
import type * as Module from './text.ts';
import { chooseLanguage, createTexts, language, once, t, textOr } from './text.ts';
import zhLater from './zh-later.json';
import zhFirst from './zh.json';

const en: Readonly<Record<string, string>> = { ...enFirst, ...enLater, ...chatTexts.en, ...providerTexts.en };
const zh: Readonly<Record<string, string>> = { ...zhFirst, ...zhLater, ...chatTexts.zh, ...providerTexts.zh };

afterEach(() => vi.restoreAllMocks());

let loads = 0;
/** The module as another browser loads it. */
const load = async (stored: string | null, spoken: string) => {
  if (stored === null) localStorage.removeItem('kiln.language');
  else localStorage.setItem('kiln.language', stored);
  vi.spyOn(navigator, 'language', 'get').mockReturnValue(spoken);
  loads += 1;
  return (await import(/* @vite-ignore */ `./text.ts?load=${loads}`)) as typeof Module;
};

it.each([
  [null, 'en-GB', 'en'],
  [null, 'ZH-tw', 'zh'],
  [null, 'fr', 'en'],
  ['zh', 'en', 'zh'],
  ['en', 'zh-CN', 'en'],
  ['fr', 'zh-CN', 'zh'],
])(
  'speaks the language that was chosen (%s), else that of the browser (%s)',
  async (stored, spoken, expected) => {
    const before = document.documentElement.lang;
    const text = await load(stored, spoken);
    expect(text.language).toBe(expected);
    expect(document.documentElement.lang).toBe(expected === 'zh' ? 'zh-CN' : 'en');
    expect(text.t('page.gallery')).toBe('page.gallery');
    await text.loadTexts();
    expect(text.t('page.gallery')).toBe((expected === 'zh' ? zhFirst : enFirst)['page.gallery']);
    expect(text.t('tasks.none')).toBe('tasks.none');
    expect(text.loadLaterTexts()).toBe(text.loadLaterTexts());
    await text.loadLaterTexts();
    expect(text.t('tasks.none')).toBe((expected === 'zh' ? zhLater : enLater)['tasks.none']);
    expect(text.t('page.gallery')).not.toBe('page.gallery');
    expect(text.createTexts({ own: 'mine' }, { own: '我的' })('own')).toBe(
      expected === 'zh' ? '我的' : 'mine',
    );
    document.documentElement.lang = before;
  },
);

it('remembers the language that is chosen, and loads the page in it', () => {
  const reload = vi.spyOn(location, 'reload').mockImplementation(() => undefined);
  chooseLanguage('zh');
  expect(localStorage.getItem('kiln.language')).toBe('zh');
  expect(reload).toHaveBeenCalledOnce();
  expect(language).toBe('en');
});

it('makes a value once, when it is first asked for', () => {
  const make = vi.fn<() => object>(() => ({}));
  const get = once(make);
  expect(make).not.toHaveBeenCalled();
  expect(get()).toBe(get());
  expect(make).toHaveBeenCalledOnce();
});

it('fills in what it is given, and leaves what it is not', () => {
  const say = createTexts(
    { files: '{count, plural, one {# file} other {# files}} of {name}', odd: '{count, plural, one {one}}' },
    { files: '', odd: '' },
  );
  expect(say('files', { count: 1, name: 'Ada' })).toBe('1 file of Ada');
  expect(say('files', { count: '1.2K' })).toBe('1.2K files of {name}');
  expect(say('files', { count: '1' })).toBe('1 file of {name}');
  expect(say('files')).toBe('0 files of {name}');
  expect(say('odd', { count: 2 })).toBe('');
  expect(say('odd', { count: 1 })).toBe('one');
});

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
