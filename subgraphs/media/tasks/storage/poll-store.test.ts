import { afterAll, beforeAll, expect, it } from 'vitest';

import { image, me, toRegistry, startEngine, type TestEngine } from '../testing/engine.ts';
import { testBinding, testProvider } from '../testing/provider.ts';
import { toAttemptKey } from '../work/attempts/attempt-context.ts';
import { leaseDue, pollAttemptNow, scheduleNext } from './poll-store.ts';
import { leaseWatches } from './watch-store.ts';

/** Batches over the same attempts, written by several at once. */

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

/** Running attempts of that many tasks, all due. */
async function runningAttempts(count: number) {
  const registry = toRegistry(testBinding('test#0', testProvider(engine.http), 'http://127.0.0.1:1'));
  const service = engine.service(registry);
  await engine.pool.query('delete from media.tasks');
  const tasks = await Promise.all(Array.from({ length: count }, () => service.submit(me, image())));
  await engine.pool.query(`insert into media.attempts
      (task_id, step, number, binding, provider, reference, state, handle, next_poll_at)
    select id, 1, 1, 'test#0', 'test', id || '/1/1', 'RUNNING', '{}', now() from media.tasks`);
  await engine.pool.query('analyze media.attempts; analyze media.tasks');
  return tasks.map(({ id }) => ({ taskId: id, step: 1, number: 1 }));
}

const LEASE = { leaseSeconds: 20, limit: 100 };

it('do not wait for each other in a circle', async () => {
  const keys = await runningAttempts(60);
  const watcher = '01999c1e-6c0e-7d3a-9a52-0f3f2c9f5b1e';
  const rounds = Array.from({ length: 150 }, (_, index) => index);
  const polls = async () => {
    for (const _ of rounds) {
      const due = await leaseDue(engine.database, LEASE);
      await scheduleNext(
        engine.database,
        due.map((attempt) => ({
          ...toAttemptKey(attempt),
          inMs: 0,
          answeredAt: performance.now(),
          failures: 0,
          leasedUntil: attempt.nextPollAt,
        })),
      );
    }
  };
  const watches = async () => {
    for (const _ of rounds) await leaseWatches(engine.database, keys.toReversed(), { watcher, seconds: 15 });
  };
  await expect(Promise.all([polls(), watches(), watches()])).resolves.toBeDefined();
});

it('leave the time of an attempt that became due during its call', async () => {
  const keys = await runningAttempts(2);
  const due = await leaseDue(engine.database, LEASE);
  expect(due).toHaveLength(2);
  const [hinted] = keys;
  if (hinted === undefined) throw new Error('no attempt');
  await pollAttemptNow(engine.database, hinted);
  await scheduleNext(
    engine.database,
    due.map((attempt) => ({
      ...toAttemptKey(attempt),
      inMs: 60_000,
      answeredAt: performance.now(),
      failures: 0,
      leasedUntil: attempt.nextPollAt,
    })),
  );
  const again = await leaseDue(engine.database, LEASE);
  expect(again.map(toAttemptKey)).toEqual([hinted]);
});
