import { expect, it } from 'vitest';

import en from './en.json';
import { t, textOr } from './text.ts';
import zh from './zh.json';

it('a text has the values of its names, and the form that its number needs', () => {
  expect(t('gallery.deleteMany', { count: 1 })).toBe('Delete 1 file for good?');
  expect(t('gallery.deleteMany', { count: 1_200 })).toBe('Delete 1,200 files for good?');
  expect(t('usage.of', { spent: '$1', amount: '$2' })).toBe('$1 of $2');
  expect(textOr('refusal.NEW_CODE', 'other')).toBe('other');
});

it('every text of one language has the names of the other', () => {
  const namesOf = (text: string) =>
    [...new Set([...text.matchAll(/\{(\w+)[,}]/g)].map(([, name = '']) => name))]
      .toSorted((one, other) => one.localeCompare(other))
      .join();
  const differing = Object.keys(en).filter(
    (key) => namesOf(en[key as keyof typeof en]) !== namesOf(zh[key as keyof typeof zh]),
  );
  expect(differing).toEqual([]);
});
