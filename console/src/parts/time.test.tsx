import { expect, it } from 'vitest';

import { bytesText, clockText, dayText, durationText } from './time.tsx';

it.each([
  [0, '0.0 s'],
  [1_250, '1.3 s'],
  [59_949, '59.9 s'],
  [59_950, '1 min'],
  [61_400, '1 min 1 s'],
  [3_600_000, '60 min'],
])('a duration of %i ms has the words %s', (ms, words) => {
  expect(durationText(ms)).toBe(words);
});

it.each([
  [999, '999 B'],
  [1_000, '1 kB'],
  [999_400, '999 kB'],
  [1_000_000, '1.00 MB'],
])('%i bytes are %s', (bytes, words) => {
  expect(bytesText(bytes)).toBe(words);
});

it('a time of day has all three digits of its milliseconds', () => {
  const at = new Date(2026, 10, 27, 9, 5, 7, 42).toISOString();
  expect(clockText(at)).toMatch(/^0?9:05:07\.042$/);
});

it('today and yesterday have their names, other days their date', () => {
  const noon = (daysAgo: number) => {
    const day = new Date();
    day.setDate(day.getDate() - daysAgo);
    day.setHours(12);
    return day;
  };
  expect([0, 1].map((ago) => dayText(noon(ago).toISOString()))).toEqual(['Today', 'Yesterday']);
  expect(dayText(noon(2).toISOString())).toContain(String(noon(2).getFullYear()));
});
