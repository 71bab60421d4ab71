import { expect, it } from 'vitest';

import { afterFailuresMs, whileAwayMs } from './poll-times.ts';

it('waits twice as long after each failure, and never longer than 30 s', () => {
  expect([0, 1, 2, 3, 4, 5, 100].map((failures) => afterFailuresMs(2_000, failures))).toEqual([
    2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000,
  ]);
});

it('spreads the attempts of an upstream that was away over two seconds after its pause', () => {
  expect([0, 0.5, 1].map((share) => whileAwayMs(10_000, share))).toEqual([10_000, 11_000, 12_000]);
  const drawn = Array.from({ length: 100 }, () => whileAwayMs(0));
  expect(Math.max(...drawn) - Math.min(...drawn)).toBeGreaterThan(1_000);
});
