import { afterEach, beforeEach, expect, it } from 'vitest';

import { newId } from '../../../../platform/ids.ts';
import type { Provider } from '../../providers/contract/provider.ts';
import { createTransactor } from '../storage/transactor.ts';
import { image, me, toRegistry, startEngine, type TestEngine, until } from '../testing/engine.ts';
import { testBinding, testProvider } from '../testing/provider.ts';
import { PNG, startUpstream } from '../testing/upstream.ts';
import { cancelTask } from './cancel.ts';
import type { TaskTransitions } from './transitions.ts';

/** Cancelling a set of images while one of them is being stored: from there on that one can't be cancelled. */

let engine: TestEngine;
beforeEach(async () => {
  engine = await startEngine();
});
afterEach(() => engine.stop());

const work = {
  kind: 'RECIPE',
  taskType: 'tea',
  prompt: 'a cup',
  aspectRatio: '1:1',
  templatePrompt: null,
  presetPrompts: ['one', 'two'],
} as const;
const recipe = { recipeGenerator: 'test' };

it('finds no task that is gone, or goes in the meantime', async () => {
  const registry = toRegistry(testBinding('test#0', testProvider(engine.http), 'http://127.0.0.1:1'));
  const transactor = createTransactor(engine);
  const transitions = { endCancelled: async () => undefined } as unknown as TaskTransitions;
  const parts = { database: engine.database, transactor, transitions };
  await expect(cancelTask(parts, newId())).rejects.toMatchObject({ code: 'NOT_FOUND' });
  const { id } = await engine.service(registry).submit(me, image());
  const run: typeof transactor.run = async (body) => {
    const done = await transactor.run(body);
    await engine.pool.query('delete from media.tasks');
    return done;
  };
  const gone = cancelTask({ ...parts, transactor: { ...transactor, run } }, id);
  await expect(gone).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

it('of several attempts is over when the last of them is', async () => {
  const upstream = await startUpstream();
  upstream.onStatus = () => ({ state: 'running', progress: 5 });
  const held = Promise.withResolvers<void>();
  const plain = testProvider(engine.http);
  const job = plain.jobs?.IMAGE;
  if (job?.cancel === undefined) throw new Error('no cancel');
  const cancel = job.cancel.bind(job);
  let cancels = 0;
  const slow: typeof cancel = async (...call) => {
    if ((cancels += 1) === 1) await held.promise;
    return cancel(...call);
  };
  const provider: Provider = { ...plain, jobs: { IMAGE: { ...job, cancel: slow } } };
  const registry = toRegistry(testBinding('test#0', provider, upstream.url));
  const service = engine.service(registry, recipe);
  await engine.worker(registry, { ...recipe, limits: { statusTimeoutMs: 60_000, leaseSeconds: 60 } });
  const { id } = await service.submit(me, image('', { work }));
  const states = async () =>
    (await service.attempts([id]))
      .get(id)
      ?.map(({ state }) => state)
      .toSorted();
  await until(async () => (await states())?.join() === 'RUNNING,RUNNING');
  await service.cancel(me, id);
  await until(async () => (await states())?.includes('CANCELLED'));
  const [meanwhile] = await service.readMany(me, [id]);
  held.resolve();
  expect(meanwhile).toMatchObject({ state: 'RUNNING', stage: 'cancelling' });
  expect((await engine.ended(service, id)).state).toBe('CANCELLED');
  expect(await states()).toEqual(['CANCELLED', 'CANCELLED']);
  await upstream.close();
});

it('ends a set of calls as soon as the one that is being stored has ended', async () => {
  const result = { files: [{ content: PNG, contentType: 'image/png' }], texts: [] };
  const provider: Provider = { name: 'calls', calls: { IMAGE: { call: async () => result } } };
  const registry = toRegistry(testBinding('test#0', provider, 'http://127.0.0.1:1', { concurrency: 1 }));
  const service = engine.service(registry, recipe);
  engine.files.unavailable = 3; // which keeps it in STORING for a while
  await engine.worker(registry, recipe);
  const { id } = await service.submit(me, image('', { work }));
  await until(async () => {
    const { rows } = await engine.pool.query(`select 1 from media.task_steps where state = 'STORING'`);
    return rows.length === 1;
  });
  await service.cancel(me, id);
  expect((await engine.ended(service, id)).state).toBe('CANCELLED');
  const { rows } = await engine.pool.query('select state from media.attempts');
  expect(rows).toEqual([{ state: 'SUCCEEDED' }]);
});
