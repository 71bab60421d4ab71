import { setImmediate as turn } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';

import { afterEach, expect, it, vi } from 'vitest';

import { releaseMemoryAfterStart } from './release-memory.ts';

afterEach(() => void vi.useRealTimers());

it('gives back what nothing holds, once, ten seconds after the start, and shows nobody how', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const released = new WeakRef({ only: 'the start needed it' });
  const isThere = async (): Promise<boolean> => {
    // What was looked at stays for the rest of its turn.
    await turn();
    return released.deref() !== undefined;
  };
  releaseMemoryAfterStart();
  vi.advanceTimersByTime(9_999);
  expect(await isThere()).toBe(true);
  await turn();
  vi.advanceTimersByTime(1);
  expect(await isThere()).toBe(false);
  expect(vi.getTimerCount()).toBe(0);
  expect(runInNewContext('typeof gc')).toBe('undefined');
});
