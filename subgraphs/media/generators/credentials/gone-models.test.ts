import { afterEach, beforeEach, expect, it } from 'vitest';

import { createEventBus } from '../../../../platform/events/postgres/postgres-event-bus.ts';
import { noMetrics } from '../../../../platform/metrics/metrics.ts';
import { modelGone, refusedCredentials, UpstreamError } from '../../domain/failure.ts';
import type { Provider } from '../../providers/contract/provider.ts';
import { image, me, toRegistry, startEngine, until, type TestEngine } from '../../tasks/testing/engine.ts';
import { testBinding, testProvider } from '../../tasks/testing/provider.ts';
import { startUpstream, type Upstream } from '../../tasks/testing/upstream.ts';
import { createBreakers, type Breakers } from '../breakers/breakers.ts';
import type { ModelRefusal } from './refusals.ts';
import { createCredentialRefusals, type CredentialRefusals } from './refusals.ts';

/** Bindings whose upstreams do not have their model, or do not let them in. */

let engine: TestEngine;
let there: Upstream;
let refusals: CredentialRefusals;
let breakers: Breakers;
let told: ModelRefusal[];
beforeEach(async () => {
  engine = await startEngine();
  there = await startUpstream();
  refusals = createCredentialRefusals(engine);
  breakers = createBreakers({ ...engine, metrics: noMetrics });
  told = [];
  refusals.models.onGone((refusal) => told.push(refusal));
});
afterEach(async () => {
  refusals.close();
  breakers.close();
  await engine.stop();
  await there.close();
});

const SAID = 'openai: The model `old` has been deprecated';

/** A provider whose starts fail so, as long as `isBroken` says. */
function failing(error: () => UpstreamError, isBroken: () => boolean = () => true) {
  const job = testProvider(engine.http).jobs?.IMAGE;
  if (job === undefined) throw new Error('no job');
  const counted = { starts: 0 };
  const provider: Provider = {
    name: 'test',
    jobs: {
      IMAGE: {
        ...job,
        async start(request, context) {
          counted.starts += 1;
          if (isBroken()) throw error();
          return job.start(request, context);
        },
      },
    },
  };
  return { provider, counted };
}

function createTestBinding(id: string, provider: Provider, model = 'old') {
  const made = testBinding(id, provider, there.url);
  return { ...made, connection: { ...made.connection, model } };
}

function registryWith(...bindings: readonly ReturnType<typeof createTestBinding>[]) {
  return toRegistry(...breakers.watch(refusals.watch(bindings)));
}

it.each([
  ['does not have the model', () => modelGone(SAID), 'MODEL_GONE'],
  ['does not let it in', () => refusedCredentials('the provider refused our credentials'), 'UNAVAILABLE'],
])(
  'the next binding is asked at once when an upstream %s, and that one not again',
  async (_what, error, code) => {
    const broken = failing(error);
    let isBusy = true;
    // The healthy one takes nothing at first, so that the broken one would be next again.
    const busy = failing(
      () => new UpstreamError('RATE_LIMITED', 'not now'),
      () => isBusy,
    );
    const registry = registryWith(
      createTestBinding('test#0', broken.provider),
      createTestBinding('test#1', busy.provider),
    );
    const tasks = engine.service(registry);
    const { id } = await tasks.submit(me, image());
    await engine.worker(registry);
    await until(async () => busy.counted.starts > 0);
    isBusy = false;
    expect((await engine.ended(tasks, id)).state).toBe('SUCCEEDED');
    expect(broken.counted.starts).toBe(1);
    const attempts = (await tasks.attempts([id])).get(id) ?? [];
    expect(attempts[0]).toMatchObject({ state: 'FAILED', error: { code, retryable: false } });
    expect(attempts.at(-1)).toMatchObject({ state: 'SUCCEEDED' });
  },
);

it('a task ends at once with what the vendor said when no binding has the model', async () => {
  const broken = failing(() => modelGone(SAID));
  const registry = registryWith(
    createTestBinding('test#0', broken.provider),
    createTestBinding('test#1', broken.provider),
  );
  const tasks = engine.service(registry);
  const { id } = await tasks.submit(me, image());
  await engine.worker(registry);
  expect(await engine.ended(tasks, id)).toMatchObject({
    state: 'FAILED',
    error: { code: 'MODEL_GONE', message: SAID, retryable: false },
  });
  expect(broken.counted.starts).toBe(2);
});

it('operators are told once of each, all processes know, and no breaker opens', async () => {
  let isBroken = true;
  const broken = failing(
    () => modelGone(SAID),
    () => isBroken,
  );
  const otherBus = await createEventBus({ database: engine.platformDatabase, logger: engine.logger });
  const other = createCredentialRefusals({ bus: otherBus, logger: engine.logger });
  try {
    const registry = registryWith(createTestBinding('test#0', broken.provider));
    const tasks = engine.service(registry);
    await engine.worker(registry);
    for (let count = 0; count < 6; count += 1) {
      const { id } = await tasks.submit(me, image());
      expect((await engine.ended(tasks, id)).error?.code).toBe('MODEL_GONE');
    }
    expect(told).toMatchObject([{ binding: { name: 'test:0' }, model: 'old', said: SAID }]);
    expect(breakers.findState('test:0')).toMatchObject({ isOpen: false, failures: 0 });
    await until(async () => other.models.of('test:0').length > 0);
    expect(other.models.of('test:0')).toEqual([{ model: 'old', at: expect.any(Date) }]);
    expect(refusals.refusedAt('test:0')).toBeNull();
    isBroken = false;
    const { id } = await tasks.submit(me, image());
    expect((await engine.ended(tasks, id)).state).toBe('SUCCEEDED');
    expect(refusals.models.of('test:0')).toEqual([]);
    await until(async () => other.models.of('test:0').length === 0);
  } finally {
    other.close();
    await otherBus.close();
  }
});
