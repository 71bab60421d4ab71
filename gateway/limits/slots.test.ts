import { expect, it } from 'vitest';

import { createSlots } from './slots.ts';

it('slots are as many as allowed for each key, and free again when they are released or moved', () => {
  const slots = createSlots(2);
  const take = (key: string) => slots.take(key);
  const [one, other] = [take('a'), take('a')];
  expect([take('a'), take('b') === null]).toEqual([null, false]);
  one?.release();
  one?.release();
  const third = take('a');
  expect([third === null, take('a')]).toEqual([false, null]);
  // To another key, which has room for one more.
  expect([third?.move('b'), other?.move('b'), other?.move('a')]).toEqual([true, false, true]);
  expect([take('a') === null, take('a'), take('b')]).toEqual([false, null, null]);
  third?.release();
  expect([third?.move('c'), take('b') === null]).toEqual([false, false]);
});

it('slots have no bound where it is 0', () => {
  const slots = createSlots(0);
  expect([1, 2, 3].map(() => slots.take('a') === null)).toEqual([false, false, false]);
});

it('slots are one for each key where no more are allowed', () => {
  const slots = createSlots(1);
  const only = slots.take('a');
  expect(slots.take('a')).toBeNull();
  expect([only?.move('a'), slots.take('a')]).toEqual([true, null]);
  expect([only?.move('b'), slots.take('b')]).toEqual([true, null]);
  const next = slots.take('a');
  expect(next).not.toBeNull();
  next?.release();
  expect(slots.take('a')).not.toBeNull();
});
