import { afterEach, beforeEach, expect, it } from 'vitest';

import { hashTaskId } from '../../../domain/attempt.ts';
import { startQueue } from '../../rules/queues.ts';
import { closeAttempt } from '../../storage/attempt-store.ts';
import { image, me, toRegistry, startEngine, type TestEngine, until } from '../../testing/engine.ts';
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
