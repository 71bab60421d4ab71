import { durationText } from '../../../parts/time.tsx';
import { t } from '../../../text/text.ts';

/** The axis of a timeline: which times stand on it, and how they are written. Pure. */

/** Steps in milliseconds: each a time that people count in. */
const STEPS = [10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000];
/** Most times that stand beside each other without touching. */
const MOST = 6;

/** Milliseconds between two times of an axis that is so long. */
export function stepOf(total: number): number {
  const found = STEPS.find((step) => total / step <= MOST);
  return found ?? Math.ceil(total / MOST / 60_000) * 60_000;
}

/** The times on an axis of so many milliseconds, each on a line of its grid. */
export function timesOf(total: number): readonly number[] {
  const step = stepOf(total);
  return Array.from({ length: Math.floor(total / step) + 1 }, (_, index) => index * step);
}

/** A time in as many digits as tell it from its neighbours. */
export function axisText(time: number, step: number): string {
  if (time >= 60_000) return durationText(time);
  const digits = step < 100 ? 2 : step < 1_000 ? 1 : 0;
  return t('time.seconds', { seconds: (time / 1_000).toFixed(digits) });
}
