import { setTimeout as pause } from 'node:timers/promises';

import type { KyselyPlugin } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { image, me, registryOf, startEngine, type TestEngine } from '../../testing/engine.ts';
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

/** A database in which the statement of this name fails a few times. */
function failing(statement: string, times: number) {
  let left = times;
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      if (left > 0 && JSON.stringify(node).includes(statement)) {
        left -= 1;
        throw new Error('connection terminated');
      }
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  return { database: engine.database.withPlugin(plugin), left: () => left };
}

it('asks again at the time it was told, also when writing that down failed at first', async () => {
  upstream.onStatus = ({ polls }) =>
    polls < 5 ? { state: 'running', progress: null } : { state: 'finished' };
  const { database, left } = failing('attempts.schedule-next', 3);
  const registry = registryOf(testBinding('test#0', testProvider(engine.http), upstream.url));
  const service = engine.service(registry);
  // A lease that outlives the test: only what is written back makes the attempt due again.
  await engine.worker(registry, { database, limits: { leaseSeconds: 3_600 } });
  const { id } = await service.submit(me, image());
  expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
  expect(left()).toBe(0);
});

it('asks nothing and starts nothing after its worker has stopped', async () => {
  let calls = 0;
  upstream.onStatus = () => {
    calls += 1;
    return { state: 'running', progress: null };
  };
  const registry = registryOf(testBinding('test#0', testProvider(engine.http), upstream.url));
  const service = engine.service(registry);
  const worker = await engine.worker(registry, { limits: { pollTickMs: 20, leaseSeconds: 0.05 } });
  await service.submit(me, image());
  await expect.poll(() => calls).toBeGreaterThan(2);
  await worker.stop(1);
  const [before, starts] = [calls, upstream.starts.length];
  await service.submit(me, image());
  await pause(300);
  expect([calls, upstream.starts.length]).toEqual([before, starts]);
});
