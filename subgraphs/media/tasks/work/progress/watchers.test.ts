import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createQueue } from '../../../../../platform/queue/postgres-queue.ts';
import type { TaskEvent } from '../../../domain/task.ts';
import type { JobCapability, Provider } from '../../../providers/contract/provider.ts';
import { image, me, toRegistry, startEngine, until, type TestEngine } from '../../testing/engine.ts';
import { testBinding, testProvider } from '../../testing/provider.ts';
import { startUpstream, type Upstream } from '../../testing/upstream.ts';

let engine: TestEngine;
let upstream: Upstream;
beforeEach(async () => {
  engine = await startEngine();
  upstream = await startUpstream();
});
afterEach(async () => {
  await engine.stop();
  await upstream.close();
});

type Watch = NonNullable<JobCapability['watch']>;

/** A worker whose upstream is asked rarely: what comes quickly comes from the stream. */
async function setUp(watch: Watch, pollMs = 60_000) {
  const wire = testProvider(engine.http);
  const job = wire.jobs?.IMAGE;
  if (job === undefined) throw new Error('the wire of the tests makes images');
  const provider: Provider = { name: 'streaming', jobs: { IMAGE: { ...job, pollMs, watch } } };
  const registry = toRegistry(testBinding('test#0', provider, upstream.url));
  const service = engine.service(registry);
  await engine.worker(registry);
  const submit = () => service.submit(me, image());
  return { service, submit, registry };
}

describe('an upstream that streams its progress', () => {
  it('is shown as it streams, and asked as soon as the stream ends', async () => {
    let finished = false;
    const started = Promise.withResolvers<string>();
    const isLogged = (is: (event: TaskEvent) => boolean) => async () =>
      (await service.events(await started.promise, 0, 100)).some(is);
    upstream.onStatus = () => (finished ? { state: 'finished' } : { state: 'running', progress: null });
    const { service, submit } = await setUp(async (handle, _, report) => {
      expect(handle).toEqual({ id: expect.any(String) });
      // A report is only a hint: dropped before the step runs, and one that follows too soon takes its place.
      await until(isLogged(({ state }) => state === 'RUNNING'));
      for (const progress of [20, 40, 80]) {
        report({ progress, stage: `node ${progress}` });
        await until(isLogged(({ stage }) => stage === `node ${progress}`));
      }
      finished = true;
    });
    const { id } = await submit();
    started.resolve(id);
    expect(await engine.ended(service, id)).toMatchObject({ state: 'SUCCEEDED' });
    const log = await service.events(id, 0, 100);
    const shown = log.filter(({ stage }) => stage.startsWith('node '));
    expect(shown.map(({ progress, progressEstimated }) => [progress, progressEstimated])).toEqual([
      [20, false],
      [40, false],
      [80, false],
    ]);
  });

  it('is never believed about the end: only asking decides', async () => {
    let polls = 0;
    upstream.onStatus = () => ((polls += 1) < 4 ? { state: 'running', progress: 10 } : { state: 'finished' });
    const { service, submit } = await setUp(async () => {}, 200);
    const { id } = await submit();
    expect(await engine.ended(service, id)).toMatchObject({ state: 'SUCCEEDED' });
    expect(polls).toBeGreaterThanOrEqual(4);
  });

  it('may fail to stream: the work goes on by being asked', async () => {
    let streams = 0;
    upstream.onStatus = ({ polls }) =>
      polls < 5 ? { state: 'running', progress: 10 } : { state: 'finished' };
    const broken: Watch = async () => {
      streams += 1;
      throw new Error('the socket was refused');
    };
    const { service, submit } = await setUp(broken, 50);
    const { id } = await submit();
    expect(await engine.ended(service, id)).toMatchObject({ state: 'SUCCEEDED' });
    // Not once per poll: a stream that ends too early is left alone for a while.
    expect(streams).toBe(1);
  });

  it('is followed by one of two workers, until its attempt has ended', async () => {
    let open = 0;
    let most = 0;
    let finished = false;
    upstream.onStatus = () => (finished ? { state: 'finished' } : { state: 'running', progress: 5 });
    const forever: Watch = async (_, { signal }, report) => {
      most = Math.max(most, (open += 1));
      // A report is only a hint and may be dropped (before the step runs); a stream goes on reporting.
      let percent = 30;
      const reporting = setInterval(() => report({ progress: (percent += 1), stage: 'uploading' }), 50);
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      clearInterval(reporting);
      open -= 1;
    };
    const { service, submit, registry } = await setUp(forever, 50);
    const { platformDatabase: database, bus, logger } = engine;
    const queue = await createQueue({ database, bus, logger });
    const second = await engine.worker(registry, { queue });
    const { id } = await submit();
    const shown = async () => (await service.events(id, 0, 100)).some(({ stage }) => stage === 'uploading');
    await until(shown);
    finished = true;
    expect(await engine.ended(service, id)).toMatchObject({ state: 'SUCCEEDED' });
    await until(async () => open === 0);
    expect(most).toBe(1);
    await second.stop(1);
    await queue.stop(1);
  });
});
