import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { silentLogger } from '../process/logger.ts';
import type { ClaimedJobs } from './claimed-jobs.ts';
import type { Job } from './queue.ts';
import { createRunningJobs } from './running-jobs.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('the lease of a job that has run for twelve hours is not extended, and its handler is told', async () => {
  const claimed: ClaimedJobs = {
    extend: async (claims) => new Set(claims.map(({ id }) => id)),
    settle: async () => new Set(),
    reclaimLost: async () => [],
    prune: async () => {},
  };
  const jobs: Job[] = [];
  const running = createRunningJobs({
    queue: 'hangs',
    handler: (job) => {
      jobs.push(job);
      return new Promise<void>(() => undefined);
    },
    claimed,
    logger: silentLogger(),
    onFree: () => {},
  });
  running.begin({ id: 'one', claims: 1, data: null, retries: 0, retryLimit: 1 });
  await vi.advanceTimersByTimeAsync(11 * 3_600_000);
  running.begin({ id: 'another', claims: 1, data: null, retries: 0, retryLimit: 1 });
  await running.extend();
  expect(jobs.map(({ signal }) => signal.aborted)).toEqual([false, false]);
  await vi.advanceTimersByTimeAsync(2 * 3_600_000);
  await running.extend();
  expect(jobs.map(({ signal }) => signal.aborted)).toEqual([true, false]);
});
