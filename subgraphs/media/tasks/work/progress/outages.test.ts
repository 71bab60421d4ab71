import { describe, expect } from 'vitest';

import { hashTaskId } from '../../../domain/attempt.ts';
import { UpstreamError } from '../../../domain/failure.ts';
import type { Binding } from '../../../generators/bindings/binding.ts';
import type { JobCapability, JobStatus, Provider } from '../../../providers/contract/provider.ts';
import type { RunningTaskService } from '../../rules/service.ts';
import { engineTest } from '../../testing/engine-test.ts';
import { image, me, toRegistry, type TestEngine, until } from '../../testing/engine.ts';
import { PRICED, testBinding, testProvider } from '../../testing/provider.ts';
import type { Upstream } from '../../testing/upstream.ts';
import type { WorkerLimits } from '../attempts/dependencies.ts';

/** Status and cancel calls that are not answered, while the work goes on at the upstream. */

const silence = () => new UpstreamError('UNAVAILABLE', 'no answer');

/** An engine whose upstream answers status and cancel calls only when it should. */
function createOutage(engine: TestEngine, upstream: Upstream) {
  /** A provider whose status and cancel calls fail while `fails` says so; `calls` counts both. */
  function unreliable(fails: { status: (call: number) => boolean; cancel?: (call: number) => boolean }) {
    const job = testProvider(engine.http).jobs?.IMAGE;
    if (job === undefined) throw new Error('no job');
    const calls = { status: 0, cancel: 0 };
    const capability: JobCapability = {
      ...job,
      pollMs: 1,
      async status(handle, context): Promise<JobStatus> {
        if (fails.status(++calls.status)) throw silence();
        return job.status(handle, context);
      },
      async cancel(handle, context) {
        if (fails.cancel?.(++calls.cancel)) throw silence();
        return (await job.cancel?.(handle, context)) ?? 'too-late';
      },
    };
    const provider: Provider = { name: 'test', jobs: { IMAGE: capability } };
    return { provider, calls };
  }

  async function submitTo(
    provider: Provider,
    options: { binding?: Partial<Binding>; limits?: Partial<WorkerLimits> } = {},
  ) {
    const registry = toRegistry(testBinding('test#0', provider, upstream.url, options.binding));
    const service = engine.service(registry);
    const worker = await engine.worker(registry, { limits: options.limits ?? {} });
    const { id } = await service.submit(me, image());
    return { service, worker, id, registry };
  }
  return { engine, upstream, unreliable, submitTo };
}

const it = engineTest.extend<{ readonly outage: ReturnType<typeof createOutage> }>({
  outage: ({ engine, upstream }, use) => use(createOutage(engine, upstream)),
});

const readAttempts = async (service: RunningTaskService, id: string) =>
  (await service.attempts([id])).get(id);
const running = () => ({ state: 'running', progress: 10 }) as const;

describe.concurrent('an upstream whose status calls are not answered', () => {
  it('is asked until it answers, and the work is not started again', async ({ outage }) => {
    const { engine, upstream, unreliable, submitTo } = outage;
    const { provider, calls } = unreliable({ status: (call) => call <= 11 });
    const { service, id } = await submitTo(provider);
    expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
    expect(calls.status).toBe(12);
    expect([upstream.starts, upstream.cancels]).toEqual([[`${hashTaskId(id)}/1/1`], []]);
  });

  it('is asked on after an error of ours, which is told of', async ({ outage }) => {
    const { engine, upstream, unreliable } = outage;
    const lines: unknown[] = [];
    const { provider } = unreliable({ status: () => false });
    const job = provider.jobs?.IMAGE;
    if (job === undefined) throw new Error('no job');
    let calls = 0;
    const status: typeof job.status = (...call) =>
      (calls += 1) === 1 ? Promise.reject(new TypeError('not a function')) : job.status(...call);
    const registry = toRegistry(
      testBinding('test#0', { name: 'test', jobs: { IMAGE: { ...job, status } } }, upstream.url),
    );
    const service = engine.service(registry);
    const warn = (...line: unknown[]) => void lines.push(line[1]);
    await engine.worker(registry, { logger: { ...engine.logger, warn } });
    const { id } = await service.submit(me, image());
    expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
    expect(lines).toEqual(['a status call failed']);
  });

  it('may answer after the timeout of the attempt: what is finished then is taken', async ({ outage }) => {
    const { engine, upstream, unreliable, submitTo } = outage;
    const { provider } = unreliable({ status: (call) => call <= 9 });
    const { service, id } = await submitTo(provider, { binding: { attemptTimeoutSeconds: 0.3 } });
    expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
    expect([upstream.starts, upstream.cancels]).toEqual([[`${hashTaskId(id)}/1/1`], []]);
  });

  it('ends the task after the timeout and a grace period, without another start', async ({ outage }) => {
    const { engine, upstream, unreliable, submitTo } = outage;
    const { provider } = unreliable({ status: () => true });
    const { service, id } = await submitTo(provider, {
      binding: { attemptTimeoutSeconds: 0.3, prices: PRICED },
      limits: { cancelBudgetSeconds: 0.5 },
    });
    expect(await engine.ended(service, id)).toMatchObject({
      state: 'FAILED',
      error: { code: 'TIMED_OUT', retryable: false, message: expect.stringContaining('not started again') },
    });
    expect(upstream.starts).toHaveLength(1);
    expect(await readAttempts(service, id)).toMatchObject([{ cost: { microUnits: null, currency: 'USD' } }]);
  });
});

describe.concurrent('work that takes longer than its timeout', () => {
  it('is started again only after a cancel that was answered', async ({ outage }) => {
    const { engine, upstream, unreliable, submitTo } = outage;
    upstream.onStatus = ({ reference }) => (reference.endsWith('/1') ? running() : { state: 'finished' });
    const { provider, calls } = unreliable({ status: () => false, cancel: (call) => call <= 2 });
    const cancelsAtStarts: number[] = [];
    upstream.onStart = () => {
      cancelsAtStarts.push(upstream.cancels.length);
      return 'accept';
    };
    const { service, id } = await submitTo(provider, { binding: { attemptTimeoutSeconds: 0.3 } });
    expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
    expect(calls.cancel).toBe(3);
    expect(cancelsAtStarts).toEqual([0, 1]);
    expect(await readAttempts(service, id)).toMatchObject([
      { state: 'FAILED', error: { code: 'TIMED_OUT' } },
      { state: 'SUCCEEDED' },
    ]);
  });

  it('is not started again when no cancel was answered', async ({ outage }) => {
    const { engine, upstream, unreliable, submitTo } = outage;
    upstream.onStatus = running;
    const { provider, calls } = unreliable({ status: () => false, cancel: () => true });
    const { service, id } = await submitTo(provider, {
      binding: { attemptTimeoutSeconds: 0.3 },
      limits: { cancelBudgetSeconds: 0.5 },
    });
    expect(await engine.ended(service, id)).toMatchObject({ error: { code: 'TIMED_OUT', retryable: false } });
    expect(upstream.starts).toHaveLength(1);
    expect(calls.cancel).toBeGreaterThan(1);
  });
});

describe.concurrent('a cancel request', () => {
  it('ends the task though its upstream is silent, and is passed on when that answers again', async ({
    outage,
  }) => {
    const { engine, upstream, unreliable, submitTo } = outage;
    upstream.onStatus = running;
    let isSilent = true;
    const { provider } = unreliable({ status: () => false, cancel: () => isSilent });
    const { service, id } = await submitTo(provider);
    await until(async () => (await readAttempts(service, id))?.[0]?.state === 'RUNNING');
    await service.cancel(me, id);
    expect((await engine.ended(service, id)).state).toBe('CANCELLED');
    expect(await readAttempts(service, id)).toMatchObject([{ state: 'RUNNING' }]);
    isSilent = false;
    await until(async () => (await readAttempts(service, id))?.[0]?.state === 'CANCELLED');
    expect(upstream.cancels).toEqual([`${hashTaskId(id)}/1/1`]);
  });
});

describe.concurrent('running work whose generator is no longer configured', () => {
  it('ends after a while with an error that says so, and is not started elsewhere', async ({ outage }) => {
    const { engine, upstream, submitTo } = outage;
    upstream.onStatus = running;
    const { service, worker, id } = await submitTo(testProvider(engine.http));
    await until(async () => (await readAttempts(service, id))?.[0]?.state === 'RUNNING');
    await worker.stop(1);
    const other = testBinding('test#1', testProvider(engine.http), 'http://127.0.0.1:1');
    await engine.worker(toRegistry(other), { limits: { unconfiguredSeconds: 1 } });
    expect(await engine.ended(service, id)).toMatchObject({
      state: 'FAILED',
      error: { retryable: false, message: expect.stringContaining('no longer configured') },
    });
    expect(upstream.starts).toEqual([`${hashTaskId(id)}/1/1`]);
  });
});
