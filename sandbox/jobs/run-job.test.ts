import { setTimeout as delay } from 'node:timers/promises';

import { expect, test } from 'vitest';

import type { Job } from './job.ts';
import { DEFAULT_LATENCY } from './latency-profile.ts';
import { renderListener, runJob } from './run-job.ts';

const job = { id: '1', fault: null } as Job;
const result = { files: [], texts: [], facts: {} };
const latency = () => ({ ...DEFAULT_LATENCY, runningMs: 6 });

/** Runs the job; `work` gets what reports its rendering, and the progress that callers have seen so far. */
async function recordProgress(
  work: (render: (percent: number) => void, seen: readonly number[]) => Promise<void>,
): Promise<number[]> {
  const seen: number[] = [];
  await runJob({
    job,
    signal: new AbortController().signal,
    latency,
    async perform() {
      await work(renderListener(), seen);
      return result;
    },
    onPreview: () => undefined,
    progress: (percent) => seen.push(percent),
  });
  return seen;
}

test('work that reports nothing moves with the latency', async () => {
  expect(await recordProgress(() => Promise.resolve())).toEqual([17, 33, 50, 67, 83]);
});

test('work that renders shows no more than is rendered, and never goes back', async () => {
  const highest: number[] = [];
  const seen = await recordProgress(async (render, shown) => {
    for (const percent of [5, 40, 30, 80]) {
      render(percent);
      // Longer than the latency.
      await delay(20);
      highest.push(Math.max(0, ...shown));
    }
  });
  expect(highest[0]).toBeLessThanOrEqual(5);
  expect(highest[2]).toBeLessThanOrEqual(40);
  expect(highest[3]).toBeLessThanOrEqual(80);
  expect(seen).toEqual(seen.toSorted((one, other) => one - other));
});
