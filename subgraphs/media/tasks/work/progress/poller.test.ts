import type { KyselyPlugin } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';

import type { HttpClient } from '../../../../../platform/http/http-client.ts';
import { image, me, toRegistry, startEngine, type TestEngine } from '../../testing/engine.ts';
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
  const registry = toRegistry(testBinding('test#0', testProvider(engine.http), upstream.url));
  const service = engine.service(registry);
  // A lease that outlives the test: only what is written back makes the attempt due again.
  await engine.worker(registry, { database, limits: { leaseSeconds: 3_600 } });
  const { id } = await service.submit(me, image());
  expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
  expect(left()).toBe(0);
});

it('asks nothing and starts nothing after its worker has stopped', async () => {
  let asked = 0;
  const counted: HttpClient = {
    ...engine.http,
    request(request) {
      asked += 1;
      return engine.http.request(request);
    },
  };
  const limits = { pollTickMs: 20, leaseSeconds: 0.05 };
  const registryWith = (http: HttpClient) =>
    toRegistry(testBinding('test#0', testProvider(http), upstream.url));
  upstream.onStatus = () => ({ state: 'running', progress: null });
  const service = engine.service(registryWith(counted));
  const worker = await engine.worker(registryWith(counted), { limits });
  const { id } = await service.submit(me, image());
  await expect.poll(() => asked).toBeGreaterThan(2);
  await worker.stop(1);
  const before = asked;
  // Work was due as often as another worker asks for it.
  upstream.onStatus = ({ polls }) =>
    polls < 10 ? { state: 'running', progress: null } : { state: 'finished' };
  for (const job of upstream.jobs.values()) job.polls = 0;
  await engine.worker(registryWith(engine.http), { limits, queue: await engine.anotherQueue() });
  const next = await service.submit(me, image());
  for (const task of [id, next.id]) expect((await engine.ended(service, task)).state).toBe('SUCCEEDED');
  expect(asked).toBe(before);
});
