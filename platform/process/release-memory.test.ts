import { setImmediate as turn } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';

import { afterEach, expect, it, vi } from 'vitest';

import { releaseMemoryAfterStart } from './release-memory.ts';

afterEach(() => void vi.useRealTimers());

it('releases what nothing holds, once, ten seconds after the start, and shows nobody how', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  let held: object | null = { only: 'the start needed it' };
  const released = new WeakRef(held);
  releaseMemoryAfterStart();
  vi.advanceTimersByTime(9_999);
  expect([vi.getTimerCount(), released.deref() === held]).toEqual([1, true]);
  held = null;
  // What was looked at stays for the rest of its turn.
  await turn();
  vi.advanceTimersByTime(1);
  expect([vi.getTimerCount(), released.deref()]).toEqual([0, undefined]);
  expect(runInNewContext('typeof gc')).toBe('undefined');
});
