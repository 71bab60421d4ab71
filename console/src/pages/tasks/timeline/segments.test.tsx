import { expect, it } from 'vitest';

import { chooseStep, listTimes } from './segments.ts';

it.each([60, 150, 900, 2_500, 59_000, 3_600_000])(
  'an axis of %i ms has few times, each on its line',
  (total) => {
    const times = listTimes(total);
    expect(times.length).toBeLessThanOrEqual(7);
    expect(times.at(-1)).toBeLessThanOrEqual(total);
    expect(times.every((time) => time % chooseStep(total) === 0)).toBe(true);
  },
);
