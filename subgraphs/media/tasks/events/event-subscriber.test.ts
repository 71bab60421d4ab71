import { getEventListeners } from 'node:events';

import { afterEach, describe, expect, it, vi } from 'vitest';

import type { EventBus } from '../../../../platform/events/event-bus.ts';
import { newId } from '../../../../platform/ids.ts';
import { silentLogger } from '../../../../platform/process/logger.ts';
import type { MediaDatabase } from '../../database/database.ts';
import type { TaskEvent } from '../../domain/task.ts';
import { createEventHub } from './event-hub.ts';
import { createEventSubscriber, type TaskLog } from './event-subscriber.ts';
import { createFollowedPlaces } from './followed-places.ts';
import { createMergedStream } from './merged-stream.ts';
import { readCursor } from './place-cursor.ts';

it('is over at once for somebody who left while the task was looked up, and registers nobody', async () => {
  // Neither is asked anything: there is nobody to read or listen for.
  const hub = createEventHub({ database: {} as MediaDatabase, bus: {} as EventBus, logger: silentLogger() });
  const events = hub.subscribe({
    taskId: '0199aaaa-0000-7000-8000-000000000000',
    after: 0,
    signal: AbortSignal.abort(),
    state: 'RUNNING',
    lastSeq: 3,
  });
  expect(await events.next()).toEqual({ done: true, value: undefined });
  expect(await events.return?.()).toEqual({ done: true, value: undefined });
  expect(hub.subscriberCount()).toBe(0);
});

it('ends for who left with an error, and for who waits behind the end of the log', async () => {
  const ends: string[] = [];
  const subscriber = (after: number) =>
    createEventSubscriber({
      taskId: 'one',
      after,
      signal: new AbortController().signal,
      requestRows: () => undefined,
      unregister: () => void ends.push('left'),
    });
  const left = subscriber(0);
  await expect(left.iterator.throw?.(new Error('no more'))).rejects.toThrow('no more');
  expect([await left.iterator.next(), ends]).toEqual([{ done: true, value: undefined }, ['left']]);
  const last = subscriber(10);
  last.compare(10, true);
  expect(ends.splice(1)).toEqual(['left']);
  const beyond = subscriber(1_000);
  const pending = beyond.iterator.next();
  beyond.compare(10, false);
  expect(ends).toHaveLength(1);
  beyond.compare(10, true);
  expect([await pending, ends]).toEqual([{ done: true, value: undefined }, ['left', 'left']]);
});

/** One that waits behind entry 5, with its signal and how often it has left. */
function subscribing() {
  const leaving = new AbortController();
  const left = { times: 0 };
  const subscriber = createEventSubscriber({
    taskId: 'one',
    after: 5,
    signal: leaving.signal,
    requestRows: () => undefined,
    unregister: () => void (left.times += 1),
  });
  return { ...subscriber, next: () => subscriber.iterator.next(), leaving, left };
}
const createEntry = (seq: number, state = 'RUNNING') => ({ seq, state }) as TaskEvent;
const over = { done: true, value: undefined };
const given = (value: TaskEvent) => ({ done: false, value });

it('gives each entry once, those that are ready after the end too, and lets go of its signal there', async () => {
  const { next, receive, leaving, left, iterator } = subscribing();
  const first = next();
  receive([createEntry(5), createEntry(6), createEntry(7), createEntry(8, 'SUCCEEDED')]);
  expect(await first).toEqual(given(createEntry(6)));
  expect([left.times, getEventListeners(leaving.signal, 'abort').length]).toEqual([1, 0]);
  leaving.abort();
  expect(iterator.isBehind()).toBe(true);
  expect(await next()).toEqual(given(createEntry(7)));
  expect(await next()).toEqual(given(createEntry(8, 'SUCCEEDED')));
  expect([await next(), iterator.isBehind()]).toEqual([over, false]);
});

it('drops what is ready when it is left, takes nothing after that, and leaves once', async () => {
  const { next, receive, leaving, left, end, cursor } = subscribing();
  const first = next();
  receive([createEntry(6), createEntry(7)]);
  expect(await first).toEqual(given(createEntry(6)));
  leaving.abort();
  expect([await next(), left.times]).toEqual([over, 1]);
  receive([createEntry(8)]);
  end(new Error('too late'));
  expect([await next(), left.times, cursor()]).toEqual([over, 1, 7]);
});

it('ends for all who wait when it is left, and tells what it ended with to the first of them', async () => {
  const one = subscribing();
  const waiting = [one.next(), one.next()];
  one.leaving.abort();
  expect(await Promise.all(waiting)).toEqual([over, over]);
  const other = subscribing();
  const both = Promise.allSettled([other.next(), other.next()]);
  other.end(new Error('it stops'));
  expect(await both).toMatchObject([{ reason: new Error('it stops') }, { value: over }]);
  const third = subscribing();
  third.end(new Error('it stops'));
  await expect(third.next()).rejects.toThrow('it stops');
  expect(await third.next()).toEqual(over);
});

it('asks for rows again only for what was written since it asked', async () => {
  let asked = 0;
  const subscriber = createEventSubscriber({
    taskId: 'one',
    after: 0,
    signal: new AbortController().signal,
    requestRows: () => void (asked += 1),
    unregister: () => undefined,
  });
  void subscriber.iterator.next();
  subscriber.advanceTo(5);
  subscriber.receive([]);
  expect([asked, subscriber.iterator.isBehind()]).toEqual([1, false]);
  subscriber.advanceTo(5);
  subscriber.advanceTo(6);
  expect(asked).toBe(3);
  // One that was written in between is not lost.
  subscriber.advanceTo(7);
  subscriber.receive([{ seq: 6, state: 'RUNNING' } as TaskEvent]);
  expect([asked, subscriber.cursor(), subscriber.iterator.isBehind()]).toEqual([4, 6, true]);
  // Rows that it has already say nothing about what it waits for.
  void subscriber.iterator.next();
  subscriber.receive([{ seq: 5, state: 'RUNNING' } as TaskEvent]);
  expect([asked, subscriber.iterator.isBehind()]).toEqual([6, true]);
});

it('is ended for being slow only while there is something that it does not read', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  let ends = 0;
  const { signal } = new AbortController();
  const unregister = () => void (ends += 1);
  const subscriber = createEventSubscriber({
    taskId: 'one',
    after: 3,
    signal,
    requestRows: () => undefined,
    unregister,
  });
  vi.advanceTimersByTime(60_000);
  subscriber.endWhenSlow(performance.now(), 30_000);
  expect(ends).toBe(0);
  const first = subscriber.iterator.next();
  subscriber.receive([4, 5].map((seq) => ({ seq, state: 'RUNNING' }) as TaskEvent));
  expect([(await first).value?.seq, subscriber.iterator.isBehind()]).toEqual([4, true]);
  // It has read just now.
  subscriber.endWhenSlow(performance.now(), 30_000);
  expect(ends).toBe(0);
  const later = performance.now() + 60_000;
  subscriber.endWhenSlow(later, 600_000);
  expect(ends).toBe(0);
  subscriber.endWhenSlow(later, 30_000);
  expect(ends).toBe(1);
  await expect(subscriber.iterator.next()).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfter: 1 });
  vi.useRealTimers();
});

describe('several streams as one', () => {
  async function* counting(...values: readonly number[]) {
    yield* values;
  }

  it('gives what each has in its order, to whoever asked first, until it is ended', async () => {
    let ends = 0;
    const merged = createMergedStream<number>(() => (ends += 1));
    const asked = [merged.iterator.next(), merged.iterator.next(), merged.iterator.next()];
    merged.add(counting(1, 2));
    expect(await Promise.all(asked.slice(0, 2))).toEqual([1, 2].map((value) => ({ done: false, value })));
    merged.end(null);
    merged.end(new Error('twice'));
    expect(await asked[2]).toEqual(over);
    expect([await merged.iterator.next(), ends]).toEqual([over, 1]);
    expect(merged.iterator[Symbol.asyncIterator]()).toBe(merged.iterator);
  });

  it('fails once, for who waits or for who asks next, with what a stream has failed with', async () => {
    async function* failing(error: unknown) {
      yield 1;
      throw error;
    }
    for (const thrown of [new Error('it broke'), 'it broke']) {
      const merged = createMergedStream<number>(() => undefined);
      merged.add(failing(thrown));
      expect(await merged.iterator.next()).toMatchObject({ value: 1 });
      await expect(merged.iterator.next()).rejects.toThrow('it broke');
      expect(await merged.iterator.next()).toEqual(over);
    }
    const merged = createMergedStream<number>(() => undefined);
    merged.end(new Error('it stops'));
    await expect(merged.iterator.next()).rejects.toThrow('it stops');
    expect(await merged.iterator.next()).toEqual(over);
  });

  it('reads no stream ahead by more than one, drops what waits, and lets go of its streams when it is left', async () => {
    let read = 0;
    let isLeft = false;
    async function* endless() {
      try {
        for (;;) yield (read += 1);
      } finally {
        isLeft = true;
      }
    }
    let ends = 0;
    const merged = createMergedStream<number>(() => (ends += 1));
    merged.add(endless());
    await expect.poll(() => read).toBe(1);
    expect(await merged.iterator.next()).toMatchObject({ value: 1 });
    await expect.poll(() => read).toBe(2);
    await expect(merged.iterator.throw?.(new Error('left'))).rejects.toThrow('left');
    expect([await merged.iterator.next(), ends]).toEqual([over, 1]);
    await expect.poll(() => isLeft).toBe(true);
    expect(await merged.iterator.return?.()).toEqual(over);
    expect(ends).toBe(1);
  });
});

describe('the places of a follower', () => {
  afterEach(() => void vi.useRealTimers());
  const NOW = Date.UTC(2026, 10, 24);
  const [one, other] = ['0199aaaa-0000-7000-8000-000000000001', '0199aaaa-0000-7000-8000-000000000002'];
  const event = (taskId: string, seq: number) => ({ taskId, seq, at: new Date(NOW) }) as TaskEvent;
  const createLog = (...events: readonly TaskEvent[]) =>
    Object.assign(
      (async function* () {
        yield* events;
      })(),
      { isBehind: () => false },
    ) as unknown as TaskLog;

  it('forget what has ended when a look finds it no more, and not before a cursor can do without', async () => {
    vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
    const places = createFollowedPlaces(NOW);
    expect([places.begin(one, 0), places.begin(one, 0), places.begin(other, 0)]).toEqual([true, false, true]);
    for (const id of [one, other])
      for await (const entry of places.note(id, createLog(event(id, 7)))) places.read(entry);
    const known = () => [...readCursor(places.cursor()).seqs.keys()];
    expect(known()).toEqual([one, other]);
    vi.setSystemTime(NOW + 90_000);
    places.forget(new Set());
    expect(known()).toEqual([one, other]);
    vi.setSystemTime(NOW + 90_001);
    places.forget(new Set([other]));
    expect(known()).toEqual([other]);
    // What nobody follows any more is not taken up by an entry that was still on its way.
    places.read(event(one, 8));
    expect(known()).toEqual([other]);
    expect(places.begin(one, 8)).toBe(true);
  });

  it('of what has ended are ten thousand at most besides', async () => {
    const places = createFollowedPlaces(NOW);
    const ended = async (taskId: string) => {
      if (!places.begin(taskId, 0)) return false;
      for await (const entry of places.note(taskId, createLog(event(taskId, 1)))) places.read(entry);
      return true;
    };
    await ended(one);
    for (let count = 0; count < 11_000; count += 1) await ended(newId());
    expect(await ended(one)).toBe(false);
    for (let count = 0; count < 300; count += 1) await ended(newId());
    expect(await ended(one)).toBe(true);
  });

  it('are a thousand at once at most; the end of one makes room', async () => {
    const places = createFollowedPlaces(NOW);
    const begun = Array.from({ length: 1_000 }, () => places.begin(newId(), 0));
    expect(begun).not.toContain(false);
    expect(places.begin(one, 0)).toBe(false);
    const beganAt = () => readCursor(places.cursor()).beganAt;
    // Some that end meanwhile were never followed: nobody knows of all of them.
    expect(beganAt()).toBe(0);
    for await (const entry of places.note(other, createLog())) places.read(entry);
    expect(beganAt()).toBe(NOW);
    expect(places.begin(one, 0)).toBe(true);
    expect(places.begin(newId(), 0)).toBe(false);
  });
});
