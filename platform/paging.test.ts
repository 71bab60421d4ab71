import { expect, it } from 'vitest';

import { AppError, badInput, notFound, toError } from './errors.ts';
import { markId, newId } from './ids.ts';
import { isObject, jsonText, parseJson } from './json.ts';
import { boundedFirst, checkedCursor, createPageInfo, givenMembers } from './paging.ts';

it('a page says where it begins and ends, and what lies around it', () => {
  expect(createPageInfo(['a', 'b', 'c'], { hasNextPage: true, after: null })).toEqual({
    hasNextPage: true,
    hasPreviousPage: false,
    startCursor: 'a',
    endCursor: 'c',
  });
  expect(createPageInfo([], { hasNextPage: false, after: 'x' })).toEqual({
    hasNextPage: false,
    hasPreviousPage: true,
    startCursor: null,
    endCursor: null,
  });
});

it('the arguments of a page are within their bounds, and cursors are those of its list', () => {
  expect([boundedFirst(1, 5), boundedFirst(5, 5)]).toEqual([1, 5]);
  for (const first of [0, 6])
    expect(() => boundedFirst(first, 5)).toThrow(
      expect.objectContaining({ field: 'first', message: 'first must be from 1 to 5' }),
    );
  const id = newId();
  const isShort = (text: string) => text.length < 3;
  expect([
    checkedCursor(id),
    checkedCursor(null),
    checkedCursor(undefined),
    checkedCursor('ab', isShort),
  ]).toEqual([id, null, null, 'ab']);
  for (const [cursor, isCursor] of [['ab'], [id, isShort]] as const)
    expect(() => checkedCursor(cursor, isCursor)).toThrow(expect.objectContaining({ field: 'after' }));
});

it('members of a filter that are null were not given', () => {
  expect(givenMembers({ a: 0, b: null, c: undefined, d: '', e: false })).toEqual({ a: 0, d: '', e: false });
});

it('JSON is stored without what PostgreSQL refuses, and read where it is some', () => {
  expect(jsonText({ a: ['x\0y', '\ud83d', 1, null] })).toBe('{"a":["xy","\ufffd",1,null]}');
  expect([parseJson('{"a":1}'), parseJson('{'), parseJson('null')]).toEqual([{ a: 1 }, undefined, null]);
  expect([{}, [], null, 'text', undefined].map(isObject)).toEqual([true, false, false, false, false]);
});

it('an error keeps what it was made of, and what is thrown becomes one', () => {
  const cause = new Error('why');
  expect(new AppError('UNAVAILABLE', 'away', { cause }).cause).toBe(cause);
  expect('cause' in new AppError('UNAVAILABLE', 'away')).toBe(false);
  expect(badInput('prompt', 'empty')).toMatchObject({
    code: 'BAD_USER_INPUT',
    field: 'prompt',
    problems: [],
  });
  expect([toError(cause), toError('text')]).toEqual([cause, new Error('text')]);
  expect(toError('text').cause).toBe('text');
});

it('what is not found is named, and the cell that has it', () => {
  expect(notFound('task', 'abc').message).toBe('no task "abc"');
  expect(notFound('task', 'x'.repeat(200)).message).toBe(`no task "${'x'.repeat(100)}"`);
  expect(notFound('task', markId(newId(), 3)).message).toMatch(
    /"[0-9a-f-]{36}": it is of cell 3, .*\?cell=3/,
  );
});
