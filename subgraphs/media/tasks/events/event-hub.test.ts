import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import type { EventBus } from '../../../../platform/events/event-bus.ts';
import { silentLogger } from '../../../../platform/process/logger.ts';
import type { MediaDatabase } from '../../database/database.ts';
import { createEventHub } from './event-hub.ts';

/** For whom a hub listens, and what it says when the database does not answer: what it reads is tried with a whole engine. */

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

function hubOver(database = {} as MediaDatabase) {
  const listening = new Set<string>();
  const heard = { gap: () => {}, wake: (_taskId: string, _seq: number) => {} };
  const bus = {
    listen(topic: string, wake: typeof heard.wake) {
      heard.wake = wake;
      listening.add(topic);
      return () => void listening.delete(topic);
    },
    onGap(gap: () => void) {
      heard.gap = gap;
      listening.add('gap');
      return () => void listening.delete('gap');
    },
  } as unknown as EventBus;
  const warned: unknown[] = [];
  const logger = { ...silentLogger(), warn: (...line: readonly unknown[]) => void warned.push(line[1]) };
  const hub = createEventHub({ database, bus, logger, slowTickMs: 500 });
  const leaving = new AbortController();
  const follow = (taskId: string, change: object = {}) =>
    hub.subscribe({ taskId, after: 0, signal: leaving.signal, state: 'RUNNING', lastSeq: 3, ...change });
  return { hub, follow, listening, heard, warned, leaving };
}
const over = { done: true, value: undefined };

it('listens while somebody follows a task that goes on, and ends all of them with when to come again', async () => {
  const { hub, follow, listening } = hubOver();
  expect(await follow('ended', { state: 'SUCCEEDED', after: 3 }).next()).toEqual(over);
  expect([hub.subscriberCount(), listening.size, vi.getTimerCount()]).toEqual([0, 0, 0]);
  const logs = [follow('one'), follow('one'), follow('ended', { state: 'SUCCEEDED', after: 2 })];
  expect([hub.subscriberCount(), [...listening], vi.getTimerCount()]).toEqual([3, ['task', 'gap'], 1]);
  await logs[0]?.return?.();
  await logs[2]?.return?.();
  expect([hub.subscriberCount(), listening.size, vi.getTimerCount()]).toEqual([1, 2, 1]);
  const pending = logs[1]?.next();
  hub.close();
  await expect(pending).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: 'the server stops; resume with afterSeq',
    retryAfter: 1,
  });
  expect([hub.subscriberCount(), listening.size, vi.getTimerCount()]).toEqual([0, 0, 0]);
  // Who comes after that is listened for again.
  const later = follow('one');
  expect([hub.subscriberCount(), listening.size]).toEqual([1, 2]);
  await later.return?.();
});

it('wakes those of the task, and warns while nothing can be read', async () => {
  const { follow, heard, warned, leaving } = hubOver();
  const [one, other] = [follow('one', { after: 5, lastSeq: 5 }), follow('other', { after: 5, lastSeq: 5 })];
  const pending = [one.next(), other.next()];
  await expect.poll(() => warned).toEqual(['events could not be read']);
  heard.wake('one', 7);
  await expect.poll(() => warned).toHaveLength(2);
  heard.gap();
  await expect.poll(() => warned).toHaveLength(3);
  vi.advanceTimersByTime(500);
  await expect
    .poll(() => warned.slice(1))
    .toEqual(['events could not be read', 'cursors could not be compared', 'cursors could not be compared']);
  leaving.abort();
  expect(await Promise.all(pending)).toEqual([over, over]);
});
