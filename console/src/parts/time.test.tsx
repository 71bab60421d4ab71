import { act, render } from '@testing-library/preact';
import { afterEach, expect, it, vi } from 'vitest';

import {
  Ago,
  bytesText,
  clockText,
  dayText,
  durationText,
  exactTime,
  secondsText,
  warmTimes,
} from './time.tsx';

const NOON = Date.parse('2026-09-01T12:00:00Z');

afterEach(() => void vi.useRealTimers());

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

it.each([
  [-59_999, 'now'],
  [-60_000, '1 min. ago'],
  [-90_000, '1 min. ago'],
  [-3_600_000, '1 hr. ago'],
  [-86_400_000, 'yesterday'],
  [-172_800_000, '2 days ago'],
  [120_000, 'in 2 min.'],
])('what was %i ms from now has the words %s', (ms, words) => {
  vi.useFakeTimers({ now: NOON, toFake: ['Date'] });
  render(<Ago at={new Date(NOON + ms).toISOString()} />);
  expect(document.querySelector('time')?.textContent).toBe(words);
});

it('how long ago something was moves with the minutes, as long as it is shown', async () => {
  vi.useFakeTimers({ now: NOON, toFake: ['Date', 'setInterval', 'clearInterval'] });
  const at = new Date(NOON - 30_000).toISOString();
  const { unmount } = render(<Ago at={at} />);
  const time = document.querySelector('time');
  expect([time?.dateTime ?? time?.getAttribute('datetime'), time?.title]).toEqual([at, exactTime(at)]);
  void act(() => void vi.advanceTimersByTime(30_000));
  expect(time?.textContent).toBe('1 min. ago');
  unmount();
  await vi.waitFor(() => expect(vi.getTimerCount()).toBe(0));
});

it('formats that are warm are those that are used', () => {
  expect(warmTimes()).toBeUndefined();
  expect(exactTime('2026-09-01T12:00:00Z')).toBe('Sep 1, 2026, 12:00:00 PM');
  expect(secondsText(2.345)).toBe('2.3 s');
  expect(bytesText(999_999)).toBe('1000 kB');
});
