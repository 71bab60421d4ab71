import { describe, expect, it } from 'vitest';

import { betweenFolders, circles, crowdedFolders, unlistedArrows } from './imports.ts';
import type { Area } from './rooms.ts';

const areas: Readonly<Record<string, Area>> = {
  ground: { areas: [], rooms: { '.': [], words: [] } },
  house: {
    areas: ['ground'],
    rooms: { '.': ['**'], cellar: [], 'floors/*': ['cellar'], 'floors/top': ['floors/*'] },
  },
};

function arrow(text: string) {
  const [from = '', to = ''] = text.split(' -> ');
  return { from, to };
}

function unlisted(text: string): boolean {
  return unlistedArrows([arrow(text)], areas).length === 1;
}

describe('an arrow', () => {
  it.each([
    'house/cellar/a.ts -> house/cellar/b.ts',
    'house/cellar/deep/a.ts -> house/cellar/b.ts',
    'house/a.ts -> house/floors/one/b.ts',
    'house/floors/one/a.ts -> house/cellar/b.ts',
    'house/floors/top/a.ts -> house/floors/one/b.ts',
    'house/cellar/a.ts -> ground/words/b.ts',
    'house/a.ts -> package.json',
  ])('is listed: %s', (text) => {
    expect(unlisted(text)).toBe(false);
  });

  it.each([
    'house/cellar/a.ts -> house/floors/one/b.ts',
    'house/floors/one/a.ts -> house/floors/two/b.ts',
    'house/floors/one/a.ts -> house/floors/top/b.ts',
    'house/cellar/a.ts -> house/b.ts',
    'house/attic/a.ts -> house/cellar/b.ts',
    'ground/words/a.ts -> house/cellar/b.ts',
    'ground/a.ts -> ground/words/b.ts',
  ])('is not listed: %s', (text) => {
    expect(unlisted(text)).toBe(true);
  });
});

describe('circles', () => {
  it('are found among files, and among folders of files that make none', () => {
    const round = ['a/1.ts -> b/1.ts', 'b/1.ts -> c/1.ts', 'c/1.ts -> a/1.ts', 'a/1.ts -> d/1.ts'].map(arrow);
    expect(circles(round)).toEqual([['a/1.ts', 'b/1.ts', 'c/1.ts']]);
    const crossing = ['a/1.ts -> b/1.ts', 'b/2.ts -> a/2.ts'].map(arrow);
    expect(circles(crossing)).toEqual([]);
    expect(circles(betweenFolders(crossing))).toEqual([['a', 'b']]);
  });
});

describe('a crowded folder', () => {
  it('is named with its count', () => {
    expect(crowdedFolders(['a/1.ts', 'a/2.ts', 'a/b/1.ts'], 1)).toEqual(['a: 2']);
  });
});
