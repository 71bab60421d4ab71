import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { silentLogger } from '../process/logger.ts';
import { startSlotWorker } from './worker.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('an idle worker with free slots asks for jobs when it is woken, and not by itself', async () => {
  let fetches = 0;
  const worker = startSlotWorker({
    queue: 'idle',
    options: { slots: 2 },
    handler: async () => {},
    claimed: null as never,
    waiting: null as never,
    fetch: async () => {
      fetches += 1;
      return { jobs: [], hasMore: false };
    },
    logger: silentLogger(),
    onReleased: () => {},
  });
  await vi.advanceTimersByTimeAsync(600_000);
  expect(fetches).toBe(1);
  worker.wake();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(fetches).toBe(2);
  await worker.stop(0);
  worker.wake();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(fetches).toBe(2);
});
