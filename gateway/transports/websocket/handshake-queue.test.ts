import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { createHandshakeQueue } from './handshake-queue.ts';

const stays = new AbortController().signal;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

it('gives a few turns at once, and the next one to whoever has waited longest', async () => {
  const line = createHandshakeQueue({ atOnce: 2, turnMs: 60_000 });
  const [first] = await Promise.all([line.enter(stays), line.enter(stays)]);
  const order: string[] = [];
  const third = line.enter(stays).then((turn) => (order.push('third'), turn));
  const fourth = line.enter(stays).then((turn) => (order.push('fourth'), turn));
  expect([line.waiting, order]).toEqual([2, []]);
  first?.end();
  first?.end();
  const turn = await third;
  expect([line.waiting, order]).toEqual([1, ['third']]);
  turn?.end();
  await fourth;
  expect(order).toEqual(['third', 'fourth']);
});

it('lets who is gone out of the line, and tells who has waited too long that there is no turn', async () => {
  const line = createHandshakeQueue({ atOnce: 1, turnMs: 60_000 });
  const only = await line.enter(stays);
  const leaving = new AbortController();
  const left = line.enter(leaving.signal);
  expect(line.waiting).toBe(1);
  leaving.abort();
  expect([await left, await line.enter(leaving.signal), line.waiting]).toEqual([null, null, 0]);
  const late = line.enter(stays);
  vi.advanceTimersByTime(7_999);
  expect(line.waiting).toBe(1);
  vi.advanceTimersByTime(1);
  expect([await late, line.waiting]).toEqual([null, 0]);
  only?.end();
  expect(await line.enter(stays)).not.toBeNull();
  expect(await createHandshakeQueue({ atOnce: 1 }).enter(leaving.signal)).toBeNull();
});

it('is as patient as it is told to be', async () => {
  const line = createHandshakeQueue({ atOnce: 1, turnMs: 60_000, patienceMs: 20 });
  await line.enter(stays);
  const late = line.enter(stays);
  vi.advanceTimersByTime(20);
  expect(await late).toBeNull();
});

it('ends the turn of a client that says nothing, once', async () => {
  const line = createHandshakeQueue({ atOnce: 1 });
  const first = await line.enter(stays);
  const second = line.enter(stays);
  vi.advanceTimersByTime(499);
  expect(line.waiting).toBe(1);
  vi.advanceTimersByTime(1);
  expect(await second).not.toBeNull();
  first?.end();
  void line.enter(stays);
  expect(line.waiting).toBe(1);
  const quick = createHandshakeQueue({ atOnce: 1, turnMs: 5 });
  await quick.enter(stays);
  vi.advanceTimersByTime(5);
  void quick.enter(stays);
  expect(quick.waiting).toBe(0);
});

it('gives a thousand turns at once, and each that has ended once again', async () => {
  const line = createHandshakeQueue();
  const turns = await Promise.all(Array.from({ length: 1_000 }, () => line.enter(stays)));
  void line.enter(stays);
  void line.enter(stays);
  expect(line.waiting).toBe(2);
  for (const turn of turns.slice(0, 3)) turn?.end();
  expect(line.waiting).toBe(0);
  void line.enter(stays);
  void line.enter(stays);
  expect(line.waiting).toBe(1);
});
