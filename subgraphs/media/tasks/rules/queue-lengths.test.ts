import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';

import { silentLogger } from '../../../../platform/process/logger.ts';
import type { MediaDatabase } from '../../database/database.ts';
import { image, me, startEngine, stranger, type TestEngine, toRegistry, until } from '../testing/engine.ts';
import { testBinding, testProvider } from '../testing/provider.ts';
import { createQueueLengths } from './queue-lengths.ts';

/** Room in the queue of a binding, between two looks at it. */

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

const binding = () =>
  testBinding('test#0', testProvider(engine.http), 'http://127.0.0.1:1', { maxWaiting: 5 });

it('is what waits, what is being written and what was written since, and is counted anew after a second', async () => {
  const service = engine.service(toRegistry(binding()));
  const [first, second] = [await service.submit(me, image()), await service.submit(me, image())];
  const third = await service.submit(stranger, image());
  const lengths = createQueueLengths(engine);
  const isFull = async (steps: number) => {
    const refusal = await lengths.reserve(binding(), steps).catch((error: unknown) => error);
    if (refusal === undefined) lengths.settle(binding(), steps, false);
    return refusal;
  };
  const full = {
    code: 'QUEUE_FULL',
    message: 'too much work is waiting for "test"; try again later',
    retryAfter: 5,
  };
  expect([await isFull(2), await isFull(3)]).toMatchObject([undefined, full]);
  await lengths.reserve(binding(), 1);
  expect([await isFull(1), await isFull(2)]).toMatchObject([undefined, full]);
  lengths.settle(binding(), 1, true);
  expect([await isFull(1), await isFull(2)]).toMatchObject([undefined, full]);
  // Another binding has a queue of its own.
  await lengths.reserve({ ...binding(), id: 'other#0' }, 5);
  // It was not written after all: a later look does not find it.
  vi.advanceTimersByTime(999);
  expect(await isFull(2)).toMatchObject(full);
  vi.advanceTimersByTime(1);
  expect([await isFull(2), await isFull(3)]).toMatchObject([undefined, full]);
  await service.cancel(me, first.id);
  await service.cancel(stranger, third.id);
  expect(await isFull(3)).toMatchObject(full);
  vi.advanceTimersByTime(1_000);
  expect([await isFull(4), await isFull(5)]).toMatchObject([undefined, full]);
  await service.cancel(me, second.id);
});

it('has places that are read in the background, owners in turn, and kept for a second', async () => {
  const service = engine.service(toRegistry(binding()));
  const ids: string[] = [];
  for (const caller of [me, me, stranger]) ids.push((await service.submit(caller, image())).id);
  const lengths = createQueueLengths(engine);
  const places = () => ids.map((id) => lengths.position(id));
  expect(places()).toEqual([null, null, null]);
  await until(async () => lengths.position(ids[0] ?? '') !== null);
  expect([places(), lengths.position('no task')]).toEqual([[1, 3, 2], null]);
  await service.cancel(me, ids[0] ?? '');
  expect(places()).toEqual([1, 3, 2]);
  vi.advanceTimersByTime(1_000);
  await until(async () => lengths.position(ids[0] ?? '') === null);
  expect(places()).toEqual([null, 1, 2]);
});

it('is read seldom where reading takes long, and once at a time', async () => {
  let reads = 0;
  const slow = {
    getExecutor() {
      reads += 1;
      vi.advanceTimersByTime(100);
      return engine.database.getExecutor();
    },
  } as unknown as MediaDatabase;
  const lengths = createQueueLengths({ database: slow, logger: silentLogger() });
  await Promise.all([lengths.reserve(binding(), 0), lengths.reserve(binding(), 0)]);
  vi.advanceTimersByTime(1_999);
  await lengths.reserve(binding(), 0);
  expect(reads).toBe(1);
  vi.advanceTimersByTime(1);
  await lengths.reserve(binding(), 0);
  expect(reads).toBe(2);
  for (const id of ['one', 'two']) lengths.position(id);
  await until(async () => reads === 3);
  const waiting = `select id from media.tasks where state = 'QUEUED'`;
  const { rows } = await engine.pool.query<{ id: string }>(waiting);
  await until(async () => lengths.position(rows[0]?.id ?? '') !== null);
  for (const other of ['one', 'two']) lengths.position(other);
  expect(reads).toBe(3);
});

it('is unknown, with a warning, while the database does not say', async () => {
  const warned = Promise.withResolvers<unknown[]>();
  const logger = { ...silentLogger(), warn: (...line: unknown[]) => warned.resolve(line) };
  const lengths = createQueueLengths({ database: {} as MediaDatabase, logger });
  expect(lengths.position('a task')).toBeNull();
  expect(await warned.promise).toEqual([
    { error: expect.any(Error) as Error },
    'queue positions could not be read',
  ]);
  await expect(lengths.reserve(binding(), 1)).rejects.toThrow(TypeError);
});
