import { useEffect, useState } from 'react';

import { language, once, t } from '../text/text.ts';

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;
const relative = once(() => new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' }));
const exact = once(() => new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' }));
/** Loads what formats of times need, which takes as long as drawing a list of them: better before than while one is drawn. */
export const warmTimes = () => void exact();

/** How long ago, with the exact time on hover; it moves with the minutes. */
export function Ago({ at }: { readonly at: string }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 30_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <time dateTime={at} title={exact().format(new Date(at))}>
      {agoText(Date.parse(at) - now)}
    </time>
  );
}

function agoText(ms: number): string {
  const unit = UNITS.find(([, size]) => Math.abs(ms) >= size);
  return unit === undefined
    ? relative().format(0, 'second')
    : relative().format(Math.round(ms / unit[1]), unit[0]);
}

const days = once(() => new Intl.RelativeTimeFormat(language, { numeric: 'auto' }));
const date = once(() => new Intl.DateTimeFormat(language, { dateStyle: 'full' }));

/** The name of a day: today, yesterday, else its date. */
export function dayText(at: string): string {
  const ago = Math.round((startOfDay(new Date()) - startOfDay(new Date(at))) / 86_400_000);
  if (ago > 1) return date().format(new Date(at));
  const name = days().format(-ago, 'day');
  return name.charAt(0).toLocaleUpperCase(language) + name.slice(1);
}

function startOfDay(day: Date): number {
  return new Date(day.getFullYear(), day.getMonth(), day.getDate()).getTime();
}

/** The exact time, for tables of facts. */
export function exactTime(at: string): string {
  return exact().format(new Date(at));
}

const clock = once(() => new Intl.DateTimeFormat(language, { timeStyle: 'medium', hourCycle: 'h23' }));

/** The time of day with milliseconds, for logs. */
export function clockText(at: string): string {
  const date = new Date(at);
  return `${clock().format(date)}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

/** A duration in seconds with one digit, or minutes and seconds. */
export function durationText(ms: number): string {
  if (ms < 59_950) return secondsText(ms / 1_000);
  const seconds = Math.round(ms / 1_000);
  const minutes = Math.floor(seconds / 60);
  if (seconds % 60 === 0) return t('time.wholeMinutes', { minutes });
  return t('time.minutes', { minutes, seconds: seconds % 60 });
}

/** Seconds with one digit. */
export function secondsText(seconds: number): string {
  return t('time.seconds', { seconds: seconds.toFixed(1) });
}

/** Bytes in the unit that fits. */
export function bytesText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(0)} kB` : `${(bytes / 1_000_000).toFixed(2)} MB`;
}
