import { expect, it } from 'vitest';

import { pauseSeconds } from './next-attempt.ts';
import { afterFailuresMs, pollPauseMs, whileAwayMs } from './poll-times.ts';

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

it('tries a step again after a pause that grows to a minute, or that the provider asks for, and half as long again at most', () => {
  const drawn = (tries: number, atLeast: number) =>
    Array.from({ length: 200 }, () => pauseSeconds(tries, atLeast));
  for (const [tries, atLeast, least] of [
    [1, 0, 2],
    [3, 0, 8],
    [40, 0, 60],
    [1, 120, 120],
  ] as const) {
    const pauses = drawn(tries, atLeast);
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(least);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(least * 1.5);
  }
  expect(new Set(drawn(40, 0)).size).toBeGreaterThan(10);
});

/** As many ends as are remembered, evenly between two durations in seconds. */
const between = (shortest: number, longest: number) =>
  Array.from({ length: 64 }, (_, index) => shortest + ((longest - shortest) * index) / 63);
const pauses = (known: readonly number[], pollMs: number, at: readonly number[]) =>
  at.map((seconds) => Math.round(pollPauseMs({ seconds, known, pollMs })));

it('keeps to the pause of the wire while too little is known, and of what is long overdue', () => {
  expect(pauses([], 2_000, [0, 100])).toEqual([2_000, 2_000]);
  expect(pauses([5, 5, 5, 5, 5, 5, 5], 2_000, [1])).toEqual([2_000]);
  expect(pauses(between(20, 60), 2_000, [62, 600])).toEqual([2_000, 2_000]);
});

it('goes by eight ends or more, by the mean of all of them and the earliest fiftieth', () => {
  const eight = [1, 2, 3, 4, 5, 6, 7, 8];
  expect(pauses(eight, 2_000, [0, 1, 4, 7.5])).toEqual([1_240, 1_240, 1_048, 500]);
  const fifty = Array.from({ length: 51 }, (_, index) => 10 + index);
  expect(pauses(fifty, 2_000, [0, 9, 30])).toEqual([4_375, 2_000, 1_000]);
});

it('asks soon for what takes a little longer than any before', () => {
  expect(pauses(between(20, 60), 4_000, [60, 60.5, 61, 62])).toEqual([1_000, 1_000, 1_000, 2_000]);
});

it('asks seldom before the first end is due, and at its time', () => {
  const known = between(290, 310);
  expect(pauses(known, 2_000, [0, 100, 250])).toEqual([30_000, 30_000, 30_000]);
  const [last = 0] = pauses(known, 2_000, [288]);
  expect(last).toBeGreaterThan(2_000);
  expect(last).toBeLessThan(3_500);
});

it('asks the more often the sooner an end is expected, never more than four times as often', () => {
  const [first = 0, middle = 0, late = 0, last = 0] = pauses(between(20, 60), 4_000, [21, 40, 55, 59.9]);
  expect(first).toBeGreaterThan(2_400);
  expect(first).toBeLessThanOrEqual(2_480);
  expect(middle).toBeLessThan(1_850);
  expect(late).toBeLessThan(middle / 1.5);
  expect(last).toBe(1_000);
});

it('keeps callers of short work as well informed as before', () => {
  expect(pauses(between(5, 7), 1_000, [0, 2])).toEqual([1_000, 1_000]);
});

it('needs hardly more requests for work that ends at any time, and fewer where ends are near each other', () => {
  expect(requestShare(between(20, 60))).toBeLessThan(1.2);
  expect(requestShare(between(55, 60))).toBeLessThan(0.7);
});

/** Requests until the ends are seen, for each that the pause of the wire would have needed. */
function requestShare(known: readonly number[]): number {
  const pollMs = 2_000;
  let count = 0;
  for (const ends of known) {
    for (let seconds = 0; seconds < ends; count += 1)
      seconds += pollPauseMs({ seconds, known, pollMs }) / 1000;
  }
  return count / known.reduce((sum, ends) => sum + Math.ceil(ends / (pollMs / 1000)), 0);
}
