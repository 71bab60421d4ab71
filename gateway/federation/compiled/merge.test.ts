import { expect, it } from 'vitest';

import { createLeafMerging, merge, share } from './merge.ts';
import { valuesAt } from './response-path.ts';

it.each([
  ['objects', { a: { one: 1 } }, { a: { other: 2 } }, { a: { one: 1, other: 2 } }],
  ['lists of one length', { a: [{ one: 1 }, 2] }, { a: [{ other: 2 }, 3] }, { a: [{ one: 1, other: 2 }, 3] }],
  ['a longer list', { a: [1] }, { a: [2, 3] }, { a: [2, 3] }],
  ['a shorter list', { a: [1, 2] }, { a: [3] }, { a: [3] }],
  ['a list in the place of a value', { a: 1 }, { a: [2] }, { a: [2] }],
  ['a value in the place of an object', { a: { one: 1 } }, { a: null }, { a: null }],
  ['a text in the place of an object', { a: { one: 1 } }, { a: 'text' }, { a: 'text' }],
  ['an object in the place of an empty text', { a: '' }, { a: { one: 1 } }, { a: { one: 1 } }],
  ['a list in the place of an object', { a: { one: 1 } }, { a: [1] }, { a: [1] }],
  ['what is in a list by its kind', { a: [1, { one: 1 }] }, { a: [{ two: 2 }, 3] }, { a: [{ two: 2 }, 3] }],
  ['a list into a list within', { a: [[{ one: 1 }]] }, { a: [[{ two: 2 }]] }, { a: [[{ two: 2 }]] }],
  ['an object in the place of nothing', { a: null }, { a: { one: 1 } }, { a: { one: 1 } }],
  ['no object in the place of a text', { a: 'text' }, { a: { one: 1 } }, { a: 'text' }],
  ['no object in the place of a list', { a: [1] }, { a: { one: 1 } }, { a: [1] }],
  ['nothing that was not received', { a: 1 }, { a: undefined }, { a: 1 }],
])('merges %s', (_, target, source, expected) => {
  merge(target, source);
  expect(target).toEqual(expected);
});

it('makes members of names that every object inherits', () => {
  const target = {};
  const received = '{"__proto__":{"one":1},"toString":"text"}';
  merge(target, JSON.parse(received) as object as Record<string, unknown>);
  expect(JSON.stringify(target)).toBe(received);
  expect(Object.getPrototypeOf(target)).toBe(Object.prototype);
  merge(
    target,
    JSON.parse('{"__proto__":{"two":2},"toString":"other"}') as object as Record<string, unknown>,
  );
  expect(JSON.stringify(target)).toBe('{"__proto__":{"one":1,"two":2},"toString":"other"}');
});

it('finds what stands at a path, each object once where some stand at several places', () => {
  const one = { b: 1 };
  const at = (data: object, path: readonly string[], isShared = false) =>
    valuesAt([data], path, { isShared });
  expect(at({ a: [one, null, 'text', [{ b: 2 }], { b: 3 }] }, ['a', '@', 'b'])).toEqual([1, 3]);
  expect(at({ a: 7 }, ['a', '@'])).toEqual([]);
  expect(at({ a: [one, one] }, ['a', '@'])).toEqual([one, one]);
  expect(at({ a: [one, one, { b: 1 }] }, ['a', '@'], true)).toEqual([one, { b: 1 }]);
  expect(at({}, ['toString'])).toEqual([]);
  // What a text or a list has is no member that was received.
  expect([at({ a: 'text' }, ['a', 'length']), at({ a: [[1, 2]] }, ['a', '@', 'length'])]).toEqual([[], []]);
  expect(at({ a: [[one, null], [{ b: 2 }]] }, ['a', '@'])).toEqual([one, { b: 2 }]);
});

it('merges into what stands at several places by a copy, and leaves what stands elsewhere as it was', () => {
  const shared = new WeakSet<object>();
  const [one, list] = [{ deep: { a: 1 } }, [{ a: 1 }]];
  share([one, list], shared);
  const targets = [{ one, list } as Record<string, unknown>, { one, list }];
  merge(targets[0] ?? {}, { one: { deep: { b: 2 } }, list: [{ b: 2 }] }, undefined, shared);
  expect(targets[0]).toEqual({ one: { deep: { a: 1, b: 2 } }, list: [{ a: 1, b: 2 }] });
  expect(targets[1]).toEqual({ one: { deep: { a: 1 } }, list: [{ a: 1 }] });
});

it('merges what stands at several places into several objects, each with its own from then on', () => {
  const shared = new WeakSet<object>();
  const [deep, list] = [{ deep: { a: 1 } }, [{ deep: { a: 1 } }]];
  share([deep, list], shared);
  const targets: Record<string, unknown>[] = [1, 2].map((x) => ({ one: { x }, list: [{ x }] }));
  for (const target of targets) merge(target, { one: deep, list }, undefined, shared);
  merge(targets[0] ?? {}, { one: { deep: { b: 2 } }, list: [{ deep: { b: 2 } }] }, undefined, shared);
  const own = (x: number, more: object) => ({
    one: { x, deep: { a: 1, ...more } },
    list: [{ x, deep: { a: 1, ...more } }],
  });
  expect(targets).toEqual([own(1, { b: 2 }), own(2, {})]);
  expect([deep, list]).toEqual([{ deep: { a: 1 } }, [{ deep: { a: 1 } }]]);
});

it('merges leaves by functions that are made for their names, and no others', () => {
  const find = createLeafMerging(
    new Set(['a', 'b', 'toString', ...Array.from({ length: 9 }, (_, n) => `n${n}`)]),
  );
  const shared = new WeakSet<object>();
  const both = find(['a', 'b']);
  expect(find(['a', 'b'])).toBe(both);
  expect(find(['b', 'a'])).not.toBe(both);
  expect([find(['a', 'c']), find(['toString'])]).toEqual([null, null]);
  const target = { a: 0, c: { x: 1 } };
  both?.(target, { a: undefined, b: { y: 2 } }, shared);
  expect(target).toEqual({ a: 0, b: { y: 2 }, c: { x: 1 } });
  both?.(target, { a: null, b: { z: 3 } }, shared);
  expect(target).toEqual({ a: null, b: { y: 2, z: 3 }, c: { x: 1 } });
  const made = Array.from({ length: 9 }, (_, n) => find([`n${n}`]) !== null);
  expect(made).toEqual([true, true, true, true, true, true, false, false, false]);
});
