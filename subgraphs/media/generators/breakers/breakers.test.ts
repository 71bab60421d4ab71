import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createEventBus } from '../../../../platform/events/postgres/postgres-event-bus.ts';
import { noMetrics } from '../../../../platform/metrics/metrics.ts';
import { UpstreamError } from '../../domain/failure.ts';
import { image, me, toRegistry, startEngine, until, type TestEngine } from '../../tasks/testing/engine.ts';
import { testBinding, testProvider } from '../../tasks/testing/provider.ts';
import { startUpstream, type Upstream } from '../../tasks/testing/upstream.ts';
import { createBreakers, type Breakers } from './breakers.ts';

let engine: TestEngine;
let away: Upstream;
let there: Upstream;
let breakers: Breakers;
beforeEach(async () => {
  engine = await startEngine();
  [away, there] = [await startUpstream(), await startUpstream()];
  breakers = createBreakers({ ...engine, metrics: noMetrics, firstPauseMs: 400 });
});
afterEach(async () => {
  breakers.close();
  await engine.stop();
  await Promise.all([away.close(), there.close()]);
});

const refuse = () => ({ status: 503 }) as const;

describe('a provider that is away', () => {
  it('is left alone: its fall-back takes the work, and it is asked once in a while', async () => {
    let asked = 0;
    away.onStart = () => {
      asked += 1;
      return refuse();
    };
    const registry = toRegistry(
      ...breakers.watch([
        testBinding('test#0', outageProvider(), away.url, { concurrency: 2 }),
        testBinding('test#1', testProvider(engine.http), there.url),
      ]),
    );
    const tasks = engine.service(registry);
    const started = await Promise.all(Array.from({ length: 8 }, () => tasks.submit(me, image())));
    await engine.worker(registry);
    for (const { id } of started) expect((await engine.ended(tasks, id)).state).toBe('SUCCEEDED');
    expect(asked).toBeGreaterThanOrEqual(5);
    expect(asked).toBeLessThan(8);
    expect(breakers.findState('test:0')).toMatchObject({ isOpen: true });
    expect(there.starts).toHaveLength(8);
  });

  it('keeps the starts that it has, and what waits behind them goes to the fall-back', async () => {
    away.onStatus = () => ({ state: 'running', progress: null });
    const registry = toRegistry(
      ...breakers.watch([
        testBinding('test#0', testProvider(engine.http), away.url, { concurrency: 2 }),
        testBinding('test#1', testProvider(engine.http), there.url),
      ]),
    );
    const tasks = engine.service(registry);
    for (let count = 0; count < 5; count += 1) await tasks.submit(me, image());
    await engine.worker(registry);
    await until(async () => away.starts.length === 2);
    await until(async () => {
      // The answer to a status request that was on its way closes it again.
      if (breakers.findState('test:0')?.isOpen === false)
        engine.bus.publish('breaker-opened', 'test:0', Date.now() + 60_000);
      return there.starts.length === 3;
    });
    expect(away.starts).toHaveLength(2);
  });

  it('without a fall-back is waited for, also by what is submitted meanwhile, and no attempt is counted', async () => {
    let isUnavailable = true;
    away.onStart = () => (isUnavailable ? refuse() : 'accept');
    const registry = toRegistry(...breakers.watch([testBinding('test#0', outageProvider(), away.url)]));
    const tasks = engine.service(registry);
    const started = await Promise.all(Array.from({ length: 7 }, () => tasks.submit(me, image())));
    await engine.worker(registry, { maxAttempts: 1 });
    await until(async () => breakers.findState('test:0')?.isOpen);
    started.push(await tasks.submit(me, image()));
    const late = started.at(-1)?.id ?? '';
    await until(async () => /next try in \d+ s/.test((await tasks.readMany(me, [late]))[0]?.stage ?? ''));
    isUnavailable = false;
    for (const { id } of started) expect((await engine.ended(tasks, id)).state).toBe('SUCCEEDED');
    expect(breakers.findState('test:0')).toMatchObject({ isOpen: false, until: null });
  });

  it('that asks for time with Retry-After gets no start from any process meanwhile', async () => {
    let asked = 0;
    away.onStart = () => {
      asked += 1;
      return { status: 429, retryAfter: 600 };
    };
    const bus = await createEventBus({ database: engine.platformDatabase, logger: engine.logger });
    const others = createBreakers({ ...engine, bus, metrics: noMetrics });
    const registries = [breakers, others].map((process) =>
      toRegistry(...process.watch([testBinding('test#0', testProvider(engine.http), away.url)])),
    );
    const [here = toRegistry(), elsewhere = toRegistry()] = registries;
    const tasks = engine.service(here);
    await engine.worker(here);
    await tasks.submit(me, image());
    await until(async () => (elsewhere.byId('test#0')?.breaker?.waitMs() ?? 0) > 590_000);
    await engine.worker(elsewhere, { bus, queue: await engine.anotherQueue() });
    const late = await Promise.all(Array.from({ length: 4 }, () => tasks.submit(me, image())));
    for (const { id } of late) {
      await until(async () => {
        const [task] = await tasks.readMany(me, [id]);
        return /^provider busy, next try in \d+ s$/.test(task?.stage ?? '');
      });
    }
    expect(asked).toBe(1);
    others.close();
    await bus.close();
  });

  /** A wire that calls a 503 an outage, as the real ones do. */
  function outageProvider() {
    const provider = testProvider(engine.http);
    const job = provider.jobs?.IMAGE;
    if (job === undefined) throw new Error('the wire of the tests makes images');
    const start: typeof job.start = (...start) =>
      job.start(...start).catch((error: unknown) => {
        throw asOutage(error);
      });
    return { ...provider, jobs: { IMAGE: { ...job, start } } };
  }
});

function asOutage(error: unknown): unknown {
  const isRefusal = error instanceof UpstreamError && error.code === 'RATE_LIMITED';
  return isRefusal ? new UpstreamError('UNAVAILABLE', 'HTTP 503') : error;
}
