import { describe, expect, it } from 'vitest';

import { progressBy } from './progress.ts';
import { createUsualDurations } from './usual-durations.ts';

describe('an estimate', () => {
  it('moves evenly over the usual duration, and slower behind it', () => {
    const at = (...seconds: number[]) => seconds.map((second) => Math.round(progressBy(second, 10)));
    expect(at(0, 2, 4, 6, 8, 10)).toEqual([0, 18, 36, 54, 72, 90]);
    expect(at(15, 20, 1_000)).toEqual([94, 96, 99]);
    expect(at(0.001, 0)).toEqual([0, 0]);
  });

  it('grows ever slower where nothing is known', () => {
    const at = [10, 30, 60, 600].map((second) => Math.round(progressBy(second, null)));
    expect(at).toEqual([26, 57, 78, 90]);
  });
});

describe('usual durations', () => {
  const work = { binding: 'kling', model: 'kling-v2' };

  it('are the mean of what ended, of a binding and model each, and follow what changes', () => {
    let seconds = 0;
    const usual = createUsualDurations(() => seconds * 1000);
    expect(usual.of(work)).toBeNull();
    for (const runningSeconds of [8, 12]) usual.learn({ ...work, runningSeconds });
    expect(usual.of(work)).toBe(10);
    expect(usual.of({ ...work, model: 'kling-v3' })).toBeNull();
    for (; seconds < 600; seconds += 6) usual.learn({ ...work, runningSeconds: 60 });
    expect(usual.of(work)).toBeGreaterThan(58);
  });

  it('are not forgotten for a thousand that began together, whose newest ends all took equally long', () => {
    let now = 0;
    const usual = createUsualDurations(() => now);
    for (let count = 0; count < 64; count += 1) usual.learn({ ...work, runningSeconds: 20 + count }, now);
    for (let ended = 0; ended < 1_000; ended += 1) {
      now = 30_000 + ended;
      usual.learn({ ...work, runningSeconds: now / 1000 });
    }
    expect(usual.pauseMs({ ...work, runningSeconds: 75 }, 5_000)).toBeLessThan(5_000);
  });
});
