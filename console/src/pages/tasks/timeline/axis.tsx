import { durationText } from '../../../parts/time.tsx';
import type { Span } from './stages.tsx';

/** Steps of an axis in milliseconds: each a time that people count in. */
const STEPS = [10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000];
/** Most times that stand beside each other without touching. */
const MOST = 6;

/** The time since the task was created, above the bars; these say the same in words. */
export function Axis({ from, to }: Span) {
  const total = Math.max(1, to - from);
  const step = stepOf(total);
  const times = Array.from({ length: Math.floor(total / step) + 1 }, (_, index) => index * step);
  return (
    <li className="ax" aria-hidden="true">
      <span />
      <span className="track">
        {times.map((time) => (
          <span key={time} className="tick" style={{ left: `${(time / total) * 100}%` }}>
            {durationText(time)}
          </span>
        ))}
      </span>
      <span />
    </li>
  );
}

function stepOf(total: number): number {
  const found = STEPS.find((step) => total / step <= MOST);
  return found ?? Math.ceil(total / MOST / 60_000) * 60_000;
}
