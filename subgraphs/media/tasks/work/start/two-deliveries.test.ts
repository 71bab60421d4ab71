import { once } from 'node:events';

import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { newId } from '../../../../../platform/ids.ts';
import { hashTaskId } from '../../../domain/attempt.ts';
import { createStepPlanner } from '../../../recipes/planner.ts';
import { startQueue } from '../../rules/queues.ts';
import { closeAttempt } from '../../storage/attempt-store.ts';
import { image, me, toRegistry, startEngine, type TestEngine, until } from '../../testing/engine.ts';
import { testBinding, testProvider } from '../../testing/provider.ts';
import { startUpstream, type Upstream } from '../../testing/upstream.ts';
import { createWorkerParts } from '../worker.ts';
import { holdClaim, now } from './claim.ts';
import { reroute } from './open-attempt.ts';

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

it('two deliveries of one start job send once, though both have found it unclaimed and there are slots for both', async () => {
  const binding = testBinding('test#0', testProvider(engine.http), upstream.url, { concurrency: 4 });
  const registry = toRegistry(binding);
  const service = engine.service(registry);
  let asked = 0;
  const deliveries = async () => {
    const text = `select 1 from queue.jobs where queue like 'media.start.%' and state = 'active'`;
    return (await engine.pool.query(text)).rows.length;
  };
  // The first start is answered when the other delivery has sent too, or has been given back.
  upstream.onStart = async () => {
    asked += 1;
    await until(async () => asked > 1 || (await deliveries()) < 2);
    return 'accept' as const;
  };
  const { id } = await service.submit(me, image());
  const again = { queue: startQueue(binding.id), data: { taskId: id, step: 1 } };
  await engine.database.transaction().execute((transaction) => engine.queue.enqueue(transaction, again));
  // Neither may take the claim before both have opened the attempt.
  const lock = await engine.pool.connect();
  await lock.query(`begin; select pg_advisory_xact_lock(hashtextextended('media.binding.test#0', 0))`);
  await engine.worker(registry);
  const waiting = `select 1 from pg_locks where locktype = 'advisory' and not granted
    and database = (select oid from pg_database where datname = current_database())`;
  await until(async () => (await engine.pool.query(waiting)).rows.length === 2);
  await lock.query('commit');
  lock.release();
  expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
  expect(upstream.starts).toEqual([`${hashTaskId(id)}/1/1`]);
});

it('a start that is claimed while its binding is found to be another one by now is left to who has claimed it', async () => {
  const binding = testBinding('test#0', testProvider(engine.http), upstream.url);
  const registry = toRegistry(binding);
  const service = engine.service(registry);
  const { id } = await service.submit(me, image());
  await engine.pool.query(`update media.task_steps set state = 'RUNNING' where task_id = $1`, [id]);
  await engine.pool.query(
    `insert into media.attempts (task_id, step, number, binding, binding_name, provider, reference)
      values ($1, 1, 1, 'test#0', 'test:before', 'test', 'mine')`,
    [id],
  );
  // The other process has written its claim, and not committed it yet.
  const other = await engine.pool.connect();
  await other.query('begin');
  await other.query(
    `update media.attempts set claim = gen_random_uuid(), claimed_at = now() + interval '1 hour' where reference = 'mine'`,
  );
  await engine.worker(registry);
  const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event = 'transactionid'`;
  await until(async () => (await engine.pool.query(waiting)).rows.length === 1);
  await other.query('commit');
  other.release();
  // Its job is handed back.
  const later = `select 1 from queue.jobs where queue like 'media.start.%' and state = 'waiting' and due_at > now()`;
  await until(async () => (await engine.pool.query(later)).rows.length === 1);
  const { rows } = await engine.pool.query(
    `select step.state, (select count(*)::integer from media.attempts) as attempts from media.task_steps step`,
  );
  expect(rows).toEqual([{ state: 'RUNNING', attempts: 1 }]);
  expect(upstream.starts).toEqual([]);
});

it('a start of which it is not known whether it is claimed is given up at once, and begun anew', async () => {
  const lines: unknown[] = [];
  const warn = (...line: unknown[]) => void lines.push(line[1]);
  const registry = toRegistry(testBinding('test#0', testProvider(engine.http), upstream.url));
  const service = engine.service(registry);
  let isLost = false;
  // The first transaction that claims is committed, and its acknowledgement is lost.
  const database = new Proxy(engine.database, {
    get(target, name) {
      const own: unknown = Reflect.get(target, name, target);
      if (name !== 'transaction') return typeof own === 'function' ? (own.bind(target) as unknown) : own;
      return () => ({
        async execute(body: Parameters<ReturnType<typeof target.transaction>['execute']>[0]) {
          // Others begin transactions meanwhile: only this one's own write counts.
          const claims = sql`select from media.attempts
            where claim is not null and xmin::text = pg_current_xact_id()::xid::text`;
          let hasClaimed = false;
          const result = await target.transaction().execute(async (transaction) => {
            const own = await body(transaction);
            hasClaimed = (await claims.execute(transaction)).rows.length > 0;
            return own;
          });
          if (isLost || !hasClaimed) return result;
          isLost = true;
          throw new Error('connection terminated');
        },
      });
    },
  });
  await engine.worker(registry, { database, logger: { ...engine.logger, warn } });
  const { id } = await service.submit(me, image());
  expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
  expect((await service.attempts([id])).get(id)).toMatchObject([
    { state: 'FAILED', error: { code: 'LOST' } },
    { state: 'SUCCEEDED' },
  ]);
  expect(upstream.starts).toEqual([`${hashTaskId(id)}/1/2`]);
  expect(lines).toContain('a start was not sent: its claim is stale, or uncertain');
});

it('a start that can not be begun fails, and is for another worker at once when its own is leaving', async () => {
  const binding = testBinding('test#0', testProvider(engine.http), upstream.url);
  const registry = toRegistry(binding);
  let isLeaving = false;
  const database = engine.database.withPlugin({
    transformQuery() {
      if (isLeaving) parts.leave();
      throw new Error('no database');
    },
    transformResult: async ({ result }) => result,
  });
  const parts = createWorkerParts({
    ...engine,
    database,
    registry,
    planner: createStepPlanner(registry, {}),
  });
  const [start] = parts.queues;
  const job = { data: { taskId: newId(), step: 1 }, signal: new AbortController().signal } as never;
  await expect(start?.handler(job)).rejects.toThrow('no database');
  isLeaving = true;
  expect(await start?.handler(job)).toEqual({ againInSeconds: 0 });
  expect(await start?.handler(job)).toEqual({ againInSeconds: 0 });
});

it('a start that is put off finds nothing to do when its task has ended, or its step has moved', async () => {
  const binding = testBinding('test#0', testProvider(engine.http), upstream.url);
  const registry = toRegistry(binding, testBinding('test#1', testProvider(engine.http), upstream.url));
  const service = engine.service(registry);
  const planner = createStepPlanner(registry, {});
  const { recovery: _, ...parts } = createWorkerParts({ ...engine, registry, planner });
  const { id } = await service.submit(me, image());
  const steps = async () => (await engine.pool.query('select state, binding from media.task_steps')).rows;
  for (const change of [`state = 'RUNNING'`, `state = 'QUEUED', binding = 'test#1'`]) {
    await engine.pool.query(`update media.task_steps set ${change}`);
    const before = await steps();
    expect(await reroute(parts, { taskId: id, step: 1 }, binding)).toBeUndefined();
    expect(await steps()).toEqual(before);
  }
  await engine.pool.query(`update media.task_steps set state = 'QUEUED', binding = 'test#0'`);
  await engine.pool.query(`update media.tasks set state = 'CANCELLED', ended_at = now()`);
  expect(await reroute(parts, { taskId: id, step: 1 }, binding)).toBeUndefined();
  expect(await steps()).toEqual([{ state: 'QUEUED', binding: 'test#0' }]);
  await engine.pool.query(`update media.tasks set state = 'QUEUED', ended_at = null`);
  expect(await reroute(parts, { taskId: id, step: 1 }, binding)).toBeUndefined();
  expect(await steps()).toEqual([{ state: 'QUEUED', binding: 'test#1' }]);
  const due = `select from queue.jobs where queue = 'media.start.test.1' and due_at <= now()`;
  expect((await engine.pool.query(due)).rowCount).toBe(1);
  // Nobody takes it in its time.
  const breaker = { pauseMs: () => 0, admit: () => false, waitMs: () => 20_000 };
  const alone = toRegistry(
    testBinding('test#1', testProvider(engine.http), upstream.url, { breaker, budgetSeconds: 30 }),
  );
  const busy = createWorkerParts({ ...engine, registry: alone, planner });
  const waits = async () => reroute(busy, { taskId: id, step: 1 }, alone.byId('test#1') ?? binding);
  expect(await waits()).toEqual({
    againInSeconds: expect.toSatisfy((seconds: number) => seconds >= 20 && seconds <= 30),
  });
  expect(await service.readMany(me, [id])).toMatchObject([
    { stage: expect.stringMatching(/^provider busy, next try in \d+ s$/) },
  ]);
  await engine.pool.query(`update media.task_steps set started_at = now() - interval '31 seconds'`);
  expect(await waits()).toBeUndefined();
  expect((await engine.ended(service, id)).error).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
});

it('a start that is delivered again finds nothing to do while the work runs, is stored, or has ended', async () => {
  const binding = testBinding('test#0', testProvider(engine.http), upstream.url);
  const service = engine.service(toRegistry(binding));
  upstream.onStatus = () => ({ state: 'running', progress: 5 });
  engine.files.unavailable = 1_000;
  await engine.worker(toRegistry(binding));
  const { id } = await service.submit(me, image());
  const again = { queue: startQueue(binding.id), data: { taskId: id, step: 1 } };
  const completed = `select from queue.jobs where queue = $1 and state = 'completed'`;
  const stepIs = (state: string) => async () =>
    (await engine.pool.query('select from media.task_steps where state = $1', [state])).rowCount === 1;
  let deliveries = 1;
  const deliver = async () => {
    await engine.database.transaction().execute((transaction) => engine.queue.enqueue(transaction, again));
    deliveries += 1;
    await until(async () => (await engine.pool.query(completed, [again.queue])).rowCount === deliveries);
  };
  await until(
    async () => (await engine.pool.query(`select from media.attempts where state = 'RUNNING'`)).rowCount,
  );
  await deliver();
  upstream.onStatus = () => ({ state: 'finished' });
  await until(stepIs('STORING'));
  await deliver();
  engine.files.unavailable = 0;
  expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
  await deliver();
  expect((await service.attempts([id])).get(id)).toMatchObject([{ state: 'SUCCEEDED' }]);
  expect(upstream.starts).toHaveLength(1);
});

it('a claim that others have taken over is lost, and one that can not be renewed is told of', async () => {
  const lines: unknown[] = [];
  const told = Promise.withResolvers<void>();
  const warn = (...line: unknown[]) => {
    lines.push(line[1]);
    told.resolve();
  };
  const registry = toRegistry(testBinding('test#0', testProvider(engine.http), upstream.url));
  const parts = createWorkerParts({
    ...engine,
    registry,
    planner: createStepPlanner(registry, {}),
    logger: { ...engine.logger, warn },
    limits: { claimStaleSeconds: 0.06 },
  });
  const key = { taskId: newId(), step: 1, number: 1 };
  const held = holdClaim(parts, key, { id: newId(), requestedAt: now() });
  if (!held.lost.aborted) await once(held.lost, 'abort');
  held.release();
  expect([await held.confirm(), lines]).toEqual([false, []]);
  const away = holdClaim({ ...parts, database: undefined as never }, key, {
    id: newId(),
    requestedAt: now(),
  });
  await told.promise;
  away.release();
  expect([away.lost.aborted, lines[0]]).toEqual([false, 'a claim could not be renewed']);
});

it('a start that one of two deliveries could not prepare is left to the other one, which has claimed it', async () => {
  const binding = testBinding('test#0', testProvider(engine.http), upstream.url);
  const { id } = await engine.service(toRegistry(binding)).submit(me, image());
  await engine.pool.query(
    `insert into media.attempts (task_id, step, number, binding, provider, reference, claim, claimed_at)
      values ($1, 1, 1, 'test#0', 'test', 'mine', gen_random_uuid(), now())`,
    [id],
  );
  const key = { taskId: id, step: 1, number: 1 };
  const unprepared = { from: ['STARTING'], to: 'FAILED', isUnclaimed: true } as const;
  expect(await closeAttempt(engine.database, key, unprepared)).toBe(false);
  await engine.pool.query('update media.attempts set claim = null, claimed_at = null');
  expect(await closeAttempt(engine.database, key, unprepared)).toBe(true);
});
