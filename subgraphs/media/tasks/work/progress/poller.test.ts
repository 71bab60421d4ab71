import type { KyselyPlugin } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';

import type { HttpClient } from '../../../../../platform/http/http-client.ts';
import { UpstreamError } from '../../../domain/failure.ts';
import { createStepPlanner } from '../../../recipes/planner.ts';
import { image, me, toRegistry, startEngine, type TestEngine } from '../../testing/engine.ts';
import { testBinding, testProvider } from '../../testing/provider.ts';
import { startUpstream, type Upstream } from '../../testing/upstream.ts';
import { createWorkerParts } from '../worker.ts';

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

it('asks again when the upstream says, after longer and longer when it does not answer, and when a breaker lets it', async () => {
  const plain = testProvider(engine.http);
  const job = plain.jobs?.IMAGE;
  if (job === undefined) throw new Error('no job');
  let thrown: Error = new UpstreamError('UNAVAILABLE', 'no answer');
  let isOpen = false;
  const breaker = { pauseMs: () => 7_000, admit: () => !isOpen, waitMs: () => 0 };
  const status = () => Promise.reject(thrown);
  const provider = { ...plain, jobs: { IMAGE: { ...job, pollMs: 1_000, status } } };
  const registry = toRegistry(testBinding('test#0', provider, upstream.url, { breaker }));
  const planner = createStepPlanner(registry, {});
  const { poller } = createWorkerParts({ ...engine, registry, planner, limits: { leaseSeconds: 3_600 } });
  await engine.service(registry).submit(me, image());
  await engine.pool.query(`with begun as (update media.task_steps set state = 'RUNNING')
    insert into media.attempts (task_id, step, number, binding, provider, reference, state, handle, running_at)
    select id, 1, 1, 'test#0', 'test', 'one', 'RUNNING', '{"id": "one"}', now() from media.tasks`);
  const poll = async () => {
    await engine.pool.query('update media.attempts set next_poll_at = now()');
    await poller.poll();
    const { rows } = await engine.pool.query(
      `select round(extract(epoch from next_poll_at - now()))::integer as seconds, poll_failures as failures from media.attempts`,
    );
    return rows[0] as unknown;
  };
  const soon = (least: number, most = least) =>
    expect.toSatisfy((seconds: number) => seconds >= least - 1 && seconds <= most);
  expect(await poll()).toEqual({ seconds: soon(2), failures: 1 });
  expect(await poll()).toEqual({ seconds: soon(4), failures: 2 });
  thrown = new UpstreamError('RATE_LIMITED', 'later', { retryAfter: 20 });
  expect(await poll()).toEqual({ seconds: soon(20), failures: 3 });
  thrown = new UpstreamError('RATE_LIMITED', 'later', { retryAfter: 5 });
  expect(await poll()).toEqual({ seconds: soon(16), failures: 4 });
  thrown = new UpstreamError('RATE_LIMITED', 'much later', { retryAfter: 900 });
  expect(await poll()).toEqual({ seconds: soon(60), failures: 5 });
  isOpen = true;
  expect(await poll()).toEqual({ seconds: soon(7, 9), failures: 5 });
  isOpen = false;
  thrown = new UpstreamError('LOST', 'no such job');
  expect(await poll()).toMatchObject({ failures: 5 });
  const { rows } = await engine.pool.query(
    `select state, error->>'retryable' as retryable from media.attempts where reference = 'one'`,
  );
  expect(rows).toEqual([{ state: 'FAILED', retryable: 'true' }]);
  await poller.stop(0);
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
