import { expect } from 'vitest';

import { hashTaskId } from '../../../domain/attempt.ts';
import type { StoredFile } from '../../../files/files.ts';
import type { Binding } from '../../../generators/bindings/binding.ts';
import { engineTest } from '../../testing/engine-test.ts';
import { image, me, toRegistry, stranger, type TestEngine, until } from '../../testing/engine.ts';
import { ONE_PIXEL } from '../../testing/memory-files.ts';
import { testBinding, testProvider } from '../../testing/provider.ts';
import type { Upstream } from '../../testing/upstream.ts';

/** The slots of a binding, where something happens between the opening of an attempt and its claim. */

const FILE_ID = '01999c1e-6c0e-7d3a-9a52-0f3f2c9f5b1e';
const work = { kind: 'IMAGE', generator: 'test', prompt: 'a fox', images: [{ fileId: FILE_ID }] } as const;

/** An engine whose inputs are read when the test lets them, and one binding. */
function createSlots(engine: TestEngine, upstream: Upstream) {
  /** Makes the input file readable; `before` runs each time that it is read. */
  function readInputs(before: () => Promise<void>): void {
    const file: StoredFile = {
      id: FILE_ID,
      owner: 'usr_me',
      name: 'x.png',
      contentType: 'image/png',
      bytes: 1,
      ...ONE_PIXEL,
      createdAt: new Date(),
    };
    engine.files.byIds = async (ids) => {
      await before();
      return ids.map(() => file);
    };
  }

  function setUp(change: Partial<Binding>) {
    const registry = toRegistry(testBinding('test#0', testProvider(engine.http), upstream.url, change));
    return { registry, service: engine.service(registry) };
  }

  const attemptIsOpen = () =>
    until(async () => (await engine.pool.query('select 1 from media.attempts')).rows.length > 0);
  return { engine, upstream, readInputs, setUp, attemptIsOpen };
}

const it = engineTest.extend<{ readonly slots: ReturnType<typeof createSlots> }>({
  slots: ({ engine, upstream }, use) => use(createSlots(engine, upstream)),
});

for (const concurrency of [1, 2]) {
  it.concurrent(`come back after an error before the claim, with ${concurrency} of them`, async ({
    slots,
  }) => {
    const { engine, upstream, readInputs, setUp } = slots;
    let failures = 2;
    readInputs(async () => {
      if (failures-- > 0) throw new Error('connection terminated');
    });
    const { registry, service } = setUp({ concurrency });
    await engine.worker(registry);
    const tasks = [
      await service.submit(me, image('', { work })),
      await service.submit(me, image('', { work })),
    ];
    for (const { id } of tasks) expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
    expect(upstream.starts.toSorted()).toEqual(tasks.map(({ id }) => `${hashTaskId(id)}/1/1`).toSorted());
  });
}

it.concurrent('come back when a worker stops while it prepares an input', async ({ slots }) => {
  const { engine, upstream, readInputs, setUp, attemptIsOpen } = slots;
  let prepared = new Promise<void>(() => undefined);
  readInputs(() => prepared);
  const { registry, service } = setUp({ concurrency: 1 });
  const first = await engine.worker(registry);
  const { id } = await service.submit(me, image('', { work }));
  await attemptIsOpen();
  await first.stop(0);
  prepared = Promise.resolve();
  await engine.worker(registry);
  expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
  expect(upstream.starts).toEqual([`${hashTaskId(id)}/1/1`]);
});

it.concurrent('are not held by work that is still being prepared', async ({ slots }) => {
  const { engine, upstream, readInputs, setUp, attemptIsOpen } = slots;
  let release = (): void => {};
  let first = true;
  const released = new Promise<void>((resolve) => (release = resolve));
  readInputs(async () => {
    if (first) {
      first = false;
      await released;
    }
  });
  const { registry, service } = setUp({ concurrency: 1 });
  await engine.worker(registry);
  const slow = await service.submit(me, image('', { work }));
  await attemptIsOpen();
  await engine.worker(registry, { queue: await engine.anotherQueue() });
  const quick = await service.submit(me, image());
  expect((await engine.ended(service, quick.id)).state).toBe('SUCCEEDED');
  release();
  expect((await engine.ended(service, slow.id)).state).toBe('SUCCEEDED');
  expect(upstream.mostOpen()).toBe(1);
});

it.concurrent('are given to callers in turn, and so is storing', async ({ slots }) => {
  const { engine, upstream, setUp } = slots;
  const { registry, service } = setUp({ concurrency: 2 });
  for (let count = 0; count < 40; count += 1) await service.submit(me, image());
  const { id } = await service.submit(stranger, image());
  await engine.worker(registry, { workerSlots: { store: 1 } });
  expect((await engine.ended(service, id, stranger)).state).toBe('SUCCEEDED');
  const { rows } = await engine.pool.query(
    `select count(*)::int as before from media.tasks task where state = 'SUCCEEDED'
      and ended_at < (select ended_at from media.tasks where id = $1)`,
    [id],
  );
  expect(upstream.starts.indexOf(`${hashTaskId(id)}/1/1`)).toBeLessThan(2);
  expect(rows[0]).toMatchObject({ before: expect.toSatisfy((before: number) => before < 10) });
});

it.concurrent('are fewer while results wait to be stored', async ({ slots }) => {
  const { engine, upstream, setUp } = slots;
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const store = engine.files.store.bind(engine.files);
  engine.files.store = async (...file) => {
    await released;
    return store(...file);
  };
  const { registry, service } = setUp({ concurrency: 2 });
  const tasks = [];
  for (let count = 0; count < 24; count += 1) tasks.push(await service.submit(me, image()));
  await engine.worker(registry, { workerSlots: { store: 2 } });
  // 16 that may wait to be stored, and the two slots that two more of them hold.
  const isUnstored = `select count(*)::int as unstored from media.task_steps where state = 'STORING'`;
  await until(async () => (await engine.pool.query(isUnstored)).rows[0]?.unstored === 18);
  expect(upstream.starts).toHaveLength(18);
  release();
  for (const { id } of tasks) expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
});

it.concurrent('are used for as many requests a minute as the provider takes, over all workers', async ({
  slots,
}) => {
  const { engine, upstream, setUp } = slots;
  const times: number[] = [];
  upstream.onStart = () => {
    times.push(performance.now());
    return 'accept';
  };
  // Two at once, then one each 60 / 19 s.
  const { registry, service } = setUp({ requestsPerMinute: 20 });
  const tasks = [];
  for (let count = 0; count < 3; count += 1) tasks.push(await service.submit(me, image()));
  await engine.worker(registry);
  await engine.worker(registry, { queue: await engine.anotherQueue() });
  for (const { id } of tasks) expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
  const [first = 0, , third = 0] = times;
  expect(times).toHaveLength(3);
  // The provider may learn of the first one somewhat after it was counted.
  expect(third - first).toBeGreaterThan(1_000);
});
