import { expect, it } from 'vitest';

import { merge } from './merge.ts';

it.each([
  ['objects', { a: { one: 1 } }, { a: { other: 2 } }, { a: { one: 1, other: 2 } }],
  ['lists of one length', { a: [{ one: 1 }, 2] }, { a: [{ other: 2 }, 3] }, { a: [{ one: 1, other: 2 }, 3] }],
  ['a longer list', { a: [1] }, { a: [2, 3] }, { a: [2, 3] }],
  ['a shorter list', { a: [1, 2] }, { a: [3] }, { a: [3] }],
  ['a list in the place of a value', { a: 1 }, { a: [2] }, { a: [2] }],
  ['a value in the place of an object', { a: { one: 1 } }, { a: null }, { a: null }],
  ['an object in the place of nothing', { a: null }, { a: { one: 1 } }, { a: { one: 1 } }],
])('merges %s', (_, target, source, expected) => {
  merge(target, source);
  expect(target).toEqual(expected);
});
