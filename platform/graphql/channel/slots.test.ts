import { expect, it } from 'vitest';

import { createSlots } from './slots.ts';

it('a text is sent once, and again when its place was given to another one', () => {
  const slots = createSlots(2);
  expect(slots.of('a')).toBe('"slot":0,"text":"a"');
  expect(slots.of('"b"')).toBe('"slot":1,"text":"\\"b\\""');
  expect(slots.of('a')).toBe('"slot":0');
  expect(slots.of('c')).toBe('"slot":0,"text":"c"');
  expect(slots.of('"b"')).toBe('"slot":1');
  expect(slots.of('a')).toBe('"slot":1,"text":"a"');
});
