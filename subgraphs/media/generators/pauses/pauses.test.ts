import { afterEach, beforeEach, expect, it } from 'vitest';

import { image, me, toRegistry, startEngine, until, type TestEngine } from '../../tasks/testing/engine.ts';
import { testBinding, testProvider } from '../../tasks/testing/provider.ts';
import { startUpstream, type Upstream } from '../../tasks/testing/upstream.ts';
import { createPauses } from './pauses.ts';

let engine: TestEngine;
let [one, other]: Upstream[] = [];
beforeEach(async () => {
  engine = await startEngine();
  [one, other] = [await startUpstream(), await startUpstream()];
});
afterEach(async () => {
  await engine.stop();
  await Promise.all([one?.close(), other?.close()]);
});

it('keeps new work from a paused binding: it goes elsewhere, or waits and says why until somebody resumes it', async () => {
  const pauses = createPauses(engine);
  const elsewhere = createPauses(engine);
  const registry = toRegistry(
    ...pauses.watch([
      testBinding('test#0', testProvider(engine.http), one?.url ?? ''),
      testBinding('test#1', testProvider(engine.http), other?.url ?? ''),
    ]),
  );
  const tasks = engine.service(registry);
  const before = await tasks.submit(me, image());
  await elsewhere.pause({ binding: 'test:0', reason: 'moving', pausedBy: 'usr_admin' });
  await until(async () => pauses.of('test:0') !== null);
  expect(pauses.of('test:0')).toMatchObject({ reason: 'moving', pausedBy: 'usr_admin' });
  await engine.worker(registry, { bindingPauses: pauses });
  expect((await engine.ended(tasks, before.id)).state).toBe('SUCCEEDED');
  expect([one?.starts.length, other?.starts.length]).toEqual([0, 1]);

  await pauses.pause({ binding: 'test:1', reason: '', pausedBy: 'usr_admin' });
  const waits = await tasks.submit(me, image());
  await until(async () => (await tasks.readMany(me, [waits.id]))[0]?.stage === 'paused by an administrator');
  // Queued at test#1, and not looked at again for a minute: the resume of another binding starts it.
  await elsewhere.resume('test:0');
  expect((await engine.ended(tasks, waits.id)).state).toBe('SUCCEEDED');
  expect([one?.starts.length, other?.starts.length]).toEqual([1, 1]);
  for (const part of [pauses, elsewhere]) part.close();
});

it('lets work that was paused wait for a slot like all other work once it is resumed, and says so', async () => {
  const pauses = createPauses(engine);
  const registry = toRegistry(
    ...pauses.watch([testBinding('test#0', testProvider(engine.http), one?.url ?? '', { concurrency: 1 })]),
  );
  const tasks = engine.service(registry);
  const upstream = one as Upstream;
  upstream.onStatus = () => ({ state: 'running', progress: 10 });
  await pauses.pause({ binding: 'test:0', reason: '', pausedBy: 'usr_admin' });
  await engine.worker(registry, { bindingPauses: pauses });
  const waiting = [await tasks.submit(me, image()), await tasks.submit(me, image())].map(({ id }) => id);
  const stages = async () => (await tasks.readMany(me, waiting)).map((task) => task?.stage ?? '').toSorted();
  await until(async () => new Set(await stages()).has('paused by an administrator'));
  await until(async () => new Set(await stages()).size === 1);
  await pauses.resume('test:0');
  await expect.poll(stages, { timeout: 20_000 }).toEqual(['queued', 'rendering']);
  upstream.onStatus = () => ({ state: 'finished' });
  for (const id of waiting) expect((await engine.ended(tasks, id)).state).toBe('SUCCEEDED');
  pauses.close();
});
