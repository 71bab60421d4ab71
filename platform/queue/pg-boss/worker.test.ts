import { setTimeout as pause } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { silentLogger } from '../../process/logger.ts';
import { startSlotWorker } from './worker.ts';

test('an idle worker with free slots asks for jobs when it is woken, and not by itself', async () => {
  let fetches = 0;
  const worker = startSlotWorker({
    queue: 'idle',
    options: { slots: 2 },
    handler: async () => {},
    table: null as never,
    fetch: async () => {
      fetches += 1;
      return { jobs: [], hasMore: false };
    },
    logger: silentLogger(),
    onReleased: () => {},
  });
  await pause(150);
  expect(fetches).toBe(1);
  worker.wake();
  await pause(50);
  expect(fetches).toBe(2);
  await worker.stop(0);
  worker.wake();
  await pause(50);
  expect(fetches).toBe(2);
});
