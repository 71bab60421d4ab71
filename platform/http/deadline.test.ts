import { getEventListeners } from 'node:events';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { createDeadline, createTimeLimits } from './deadline.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the deadline of a call', () => {
  it('fires when the time is over, which progress begins anew', () => {
    const deadline = createDeadline({ timeoutMs: 1_000 });
    vi.advanceTimersByTime(900);
    expect(deadline.remainingMs()).toBe(100);
    deadline.extend();
    expect(deadline.remainingMs()).toBe(1_000);
    vi.advanceTimersByTime(999);
    expect([deadline.signal.aborted, deadline.reason()]).toEqual([false, null]);
    vi.advanceTimersByTime(1);
    expect([deadline.signal.aborted, deadline.reason()]).toEqual([true, 'TIMED_OUT']);
  });

  it('fires when its caller leaves, or has left, and once', () => {
    const caller = new AbortController();
    const deadline = createDeadline({ timeoutMs: 1_000, signal: caller.signal });
    caller.abort();
    vi.advanceTimersByTime(2_000);
    expect(deadline.reason()).toBe('ABORTED');
    expect(createDeadline({ timeoutMs: 1_000, signal: caller.signal }).reason()).toBe('ABORTED');
  });

  it('leaves nothing behind when it is cleared, and only its caller when its clock is stopped', () => {
    const caller = new AbortController();
    const [cleared, stopped] = [1, 2].map(() => createDeadline({ timeoutMs: 1_000, signal: caller.signal }));
    cleared?.clear();
    stopped?.stopClock();
    expect(getEventListeners(caller.signal, 'abort')).toHaveLength(1);
    vi.advanceTimersByTime(2_000);
    expect([cleared?.reason(), stopped?.reason()]).toEqual([null, null]);
    caller.abort();
    expect([cleared?.reason(), stopped?.reason()]).toEqual([null, 'ABORTED']);
  });
});

it('one timer ends many calls, each at its own time, but for those that ended before', () => {
  const limits = createTimeLimits(1_000);
  const over: string[] = [];
  const start = (name: string) => limits.start(() => over.push(name));
  start('a');
  vi.advanceTimersByTime(400);
  const second = start('b');
  start('c');
  vi.advanceTimersByTime(599);
  expect([over, vi.getTimerCount()]).toEqual([[], 1]);
  vi.advanceTimersByTime(1);
  expect(over).toEqual(['a']);
  second.clear();
  vi.advanceTimersByTime(399);
  expect(over).toEqual(['a']);
  vi.advanceTimersByTime(1);
  expect([over, vi.getTimerCount()]).toEqual([['a', 'c'], 0]);
  start('d');
  vi.advanceTimersByTime(1_000);
  expect(over).toEqual(['a', 'c', 'd']);
});
