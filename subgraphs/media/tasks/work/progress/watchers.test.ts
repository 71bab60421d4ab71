import { describe, expect } from 'vitest';

import { createQueue } from '../../../../../platform/queue/postgres-queue.ts';
import type { TaskEvent } from '../../../domain/task.ts';
import type { NewFile } from '../../../files/files.ts';
import type { JobCapability, Provider } from '../../../providers/contract/provider.ts';
import { createStepPlanner } from '../../../recipes/planner.ts';
import { engineTest } from '../../testing/engine-test.ts';
import { image, me, toRegistry, until, type TestEngine } from '../../testing/engine.ts';
import { testBinding, testProvider } from '../../testing/provider.ts';
import { PNG, type Upstream } from '../../testing/upstream.ts';
import { createWorkerParts } from '../worker.ts';
import { createWatchers } from './watchers.ts';

type Watch = NonNullable<JobCapability['watch']>;

/** An engine whose upstream streams its progress. */
function createWatched(engine: TestEngine, upstream: Upstream) {
  /** A worker whose upstream is asked rarely: what comes quickly comes from the stream. */
  async function setUp(watch: Watch, pollMs = 60_000, logger = engine.logger) {
    const wire = testProvider(engine.http);
    const job = wire.jobs?.IMAGE;
    if (job === undefined) throw new Error('the wire of the tests makes images');
    const provider: Provider = { name: 'streaming', jobs: { IMAGE: { ...job, pollMs, watch } } };
    const registry = toRegistry(testBinding('test#0', provider, upstream.url));
    const service = engine.service(registry);
    const worker = await engine.worker(registry, { logger });
    const submit = () => service.submit(me, image());
    return { service, submit, registry, worker };
  }
  return { engine, upstream, setUp };
}

const it = engineTest.extend<{ readonly watched: ReturnType<typeof createWatched> }>({
  watched: ({ engine, upstream }, use) => use(createWatched(engine, upstream)),
});

describe.concurrent('an upstream that streams its progress', () => {
  it('is shown as it streams, and asked as soon as the stream ends', async ({ watched }) => {
    const { engine, upstream, setUp } = watched;
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

  it('shows parts of an image as files, no more often than every two seconds, and then what came meanwhile', async ({
    watched,
  }) => {
    const { engine, upstream, setUp } = watched;
    let finished = false;
    upstream.onStatus = () => (finished ? { state: 'finished' } : { state: 'running', progress: null });
    const stored: NewFile[] = [];
    const storing = Promise.withResolvers<void>();
    const store = engine.files.store.bind(engine.files);
    engine.files.store = async (file) => {
      if (file.name !== 'preview') return store(file);
      stored.push(file);
      await storing.promise;
      return store(file);
    };
    const started = Promise.withResolvers<string>();
    const isLogged = (stage: string) => async () =>
      (await service.events(await started.promise, 0, 100)).find((event) => event.stage.startsWith(stage));
    const { service, submit } = await setUp(async (_handle, _call, report) => {
      await until(isLogged('rendering'));
      report({ progress: 20, stage: 'rendering', image: PNG });
      report({ progress: 30, stage: 'finalizing', image: PNG });
      await until(isLogged('finalizing'));
      storing.resolve();
      await until(isLogged('rendering, preview'));
      await until(async () => (await lastStage()) === 'finalizing');
      finished = true;
    });
    const lastStage = async () => (await service.events(await started.promise, 0, 100)).at(-1)?.stage;
    const { id } = await submit();
    started.resolve(id);
    expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
    expect(stored).toMatchObject([{ owner: me.id, name: 'preview', temporary: true, listed: false }]);
    const shown = (await service.events(id, 0, 100)).find(({ stage }) =>
      stage.startsWith('rendering, preview'),
    );
    const [preview = ''] = [...engine.files.stored].flatMap(([key, { name }]) =>
      name === 'preview' ? [key] : [],
    );
    expect(shown).toMatchObject({ stage: `rendering, preview ${preview}`, progress: 30 });
    expect(engine.files.stored.get(preview)?.content.equals(PNG)).toBe(true);
  });

  it('goes on without a part of an image that could not be stored', async ({ watched }) => {
    const { engine, upstream, setUp } = watched;
    const lines: unknown[] = [];
    const told = Promise.withResolvers<void>();
    const warn = (...line: unknown[]) => {
      lines.push(line[1]);
      told.resolve();
    };
    upstream.onStatus = ({ polls }) =>
      polls < 2 ? { state: 'running', progress: null } : { state: 'finished' };
    engine.files.unavailable = 1;
    const { service, submit } = await setUp(
      async (_handle, _call, report) => {
        report({ progress: 20, stage: 'rendering', image: PNG });
        await told.promise;
      },
      60_000,
      { ...engine.logger, warn },
    );
    const { id } = await submit();
    expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
    expect(lines).toEqual(['a part of an image could not be shown']);
  });

  it('is let go of when its worker stops, without a word, and is followed by one process alone', async ({
    watched,
  }) => {
    const { engine, upstream, setUp } = watched;
    const lines: unknown[] = [];
    const warn = (...line: unknown[]) => void lines.push(line[1]);
    upstream.onStatus = () => ({ state: 'running', progress: 5 });
    const streaming = Promise.withResolvers<void>();
    let isOpen = false;
    const watch: Watch = (_handle, { signal }) =>
      new Promise((_resolve, reject) => {
        isOpen = true;
        streaming.resolve();
        signal.addEventListener('abort', () => {
          isOpen = false;
          reject(new Error('aborted'));
        });
      });
    const { submit, registry, worker } = await setUp(watch, 50, { ...engine.logger, warn });
    await submit();
    await streaming.promise;
    // Another process has read the attempt before this one has begun to follow it.
    let ends = 0;
    const follows: string[] = [];
    const planner = createStepPlanner(registry, {});
    const watchers = createWatchers(createWorkerParts({ ...engine, registry, planner }), () => (ends += 1));
    const { rows } = await engine.pool.query(
      `select task_id, step, number, reference, handle from media.attempts`,
    );
    const [{ task_id: taskId, ...attempt }] = rows;
    const binding = registry.byId('test#0');
    const capability = { ...binding?.provider.jobs?.IMAGE, watch: async () => void follows.push('followed') };
    watchers.follow({
      due: { ...attempt, taskId, watched: false, stepInput: image().work },
      binding,
      capability,
    } as never);
    await watchers.stop();
    expect([ends, follows]).toEqual([0, []]);
    await worker.stop(1);
    expect([isOpen, lines]).toEqual([false, []]);
  });

  it('is never believed about the end: only asking decides', async ({ watched }) => {
    const { engine, upstream, setUp } = watched;
    let polls = 0;
    upstream.onStatus = () => ((polls += 1) < 4 ? { state: 'running', progress: 10 } : { state: 'finished' });
    const { service, submit } = await setUp(async () => {}, 200);
    const { id } = await submit();
    expect(await engine.ended(service, id)).toMatchObject({ state: 'SUCCEEDED' });
    expect(polls).toBeGreaterThanOrEqual(4);
  });

  it('may fail to stream: the work goes on by being asked', async ({ watched }) => {
    const { engine, upstream, setUp } = watched;
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

  it('is followed by one of two workers, until its attempt has ended', async ({ watched }) => {
    const { engine, upstream, setUp } = watched;
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
