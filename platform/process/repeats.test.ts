import { expect, it } from 'vitest';

import { createRepeats } from './logger.ts';

it('lets 60 lines of a message through in a minute, and says then how many were left out', () => {
  let now = 0;
  const repeats = createRepeats(() => now);
  const first = Array.from({ length: 100 }, () => repeats.next('the provider is away'));
  expect(first.filter((left) => left === 0)).toHaveLength(60);
  expect(first.filter((left) => left === null)).toHaveLength(40);
  expect(repeats.next('something else')).toBe(0);
  now = 60_000;
  const second = Array.from({ length: 100 }, () => repeats.next('the provider is away'));
  expect([second[0], second[1], second.indexOf(null)]).toEqual([40, 0, 60]);
});

it('counts anew when a thousand messages are told apart', () => {
  const repeats = createRepeats(() => 0);
  const fill = (message: string) => Array.from({ length: 61 }, () => repeats.next(message)).at(-1);
  expect(fill('one')).toBeNull();
  for (let number = 0; number < 999; number += 1) repeats.next(`message ${number}`);
  expect(repeats.next('one')).toBeNull();
  repeats.next('a message too many');
  expect(repeats.next('one')).toBe(0);
});
