import { expect, it } from 'vitest';

import { narrowedBy, readNarrowing, toFilter } from './narrowing.ts';

it('reads from an address what narrows a list, and nothing else of it', () => {
  const days = { from: '2026-11-01', to: '2026-11-30' };
  const words = { generator: 'agg/imga', model: 'imga', owner: 'usr_a' };
  expect(readNarrowing({ ...words, ...days, view: 'grid' })).toEqual({ ...words, ...days });
  expect(
    readNarrowing({ generator: '', model: 7, owner: null, from: '2026-11-1', to: '2026-13-01' }),
  ).toEqual({});
  expect(readNarrowing({ from: 'x2026-11-01', to: '2026-11-01x' })).toEqual({});
});

it('asks the server from the midnight of the first day to that behind the last', () => {
  const midnight = (day: string) => new Date(`${day}T00:00:00`).toISOString();
  expect(toFilter({ from: '2026-11-30', to: '2026-11-30', model: 'imga' })).toEqual({
    model: 'imga',
    createdAfter: midnight('2026-11-30'),
    createdBefore: midnight('2026-12-01'),
  });
  expect(toFilter({ generator: 'agg/imga', owner: 'usr_a' })).toEqual({
    generator: 'agg/imga',
    owner: 'usr_a',
  });
  expect(toFilter({})).toEqual({});
});

it('takes the place of what a search was narrowed by, and leaves the rest of it', () => {
  const before = {
    find: 'fox',
    generator: 'a',
    model: 'b',
    owner: 'c',
    from: '2026-11-01',
    to: '2026-11-02',
  };
  expect(narrowedBy(before, { model: 'd' })).toEqual({ find: 'fox', model: 'd' });
  expect(narrowedBy({ find: 'fox' }, {})).toEqual({ find: 'fox' });
});
