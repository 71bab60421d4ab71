import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { newId } from '../../../../platform/ids.ts';
import { hashTaskId } from '../../domain/attempt.ts';
import { image, me, toRegistry, startEngine, type TestEngine, until } from '../testing/engine.ts';
import { testBinding, testProvider } from '../testing/provider.ts';
import { startUpstream, type Upstream } from '../testing/upstream.ts';
import type { TaskWorkerOptions } from './worker.ts';

/** Steps that only a job moves, and whose job is gone. */

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

const createTestBinding = (id: string) => testBinding(id, testProvider(engine.http), upstream.url);

async function startWorker(bindings: readonly string[], change: Partial<TaskWorkerOptions> = {}) {
  const limits = { sweepPauseMs: 100, ...change.limits };
  return engine.worker(toRegistry(...bindings.map(createTestBinding)), { ...change, limits });
}

/** A task whose step waits, before there is a worker. */
async function waiting(...bindings: readonly string[]) {
  const service = engine.service(toRegistry(...bindings.map(createTestBinding)));
  const { id } = await service.submit(me, image());
  return { service, id };
}

/** Makes everything in the database as old as it would be by then. */
async function letPass(interval: string): Promise<void> {
  await engine.pool.query(`update media.task_steps set waiting_since = waiting_since - $1::interval`, [
    interval,
  ]);
}

describe('a step that waits for its start', () => {
  it('gets another job when its own was deleted', async () => {
    const { service, id } = await waiting('test#0');
    await engine.pool.query('delete from queue.jobs');
    await startWorker(['test#0']);
    expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
    expect(upstream.starts).toEqual([`${hashTaskId(id)}/1/1`]);
  });

  it('gets another job when its own was given up with an attempt that was never claimed', async () => {
    const { service, id } = await waiting('test#0');
    await engine.pool.query(`update queue.jobs set state = 'failed'`);
    await engine.pool.query(`with opened as (update media.task_steps set state = 'RUNNING')
      insert into media.attempts (task_id, step, number, binding, provider, reference)
      select id, 1, 1, 'test#0', 'test', id || '/1/1' from media.tasks`);
    await startWorker(['test#0']);
    expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
    expect(upstream.starts).toEqual([`${id}/1/1`]);
  });

  it('goes to another binding of its generator when its own is no longer configured', async () => {
    const { service, id } = await waiting('test#0', 'test#1');
    await startWorker(['test#1'], { limits: { unconfiguredSeconds: 1 } });
    expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
  });

  it('ends with an error that says so when no binding of its generator is left', async () => {
    const { service, id } = await waiting('test#0');
    const worker = await startWorker(['other#0'], { limits: { unconfiguredSeconds: 1 } });
    await engine.queue.define('requester.ended');
    await engine.pool.query(`update media.tasks set on_end = 'requester.ended'`);
    expect(await engine.ended(service, id)).toMatchObject({
      state: 'FAILED',
      error: { code: 'UNAVAILABLE', message: 'its generator "test" is no longer configured' },
    });
    const { rows } = await engine.pool.query(`select data from queue.jobs where queue = 'requester.ended'`);
    expect(rows).toEqual([{ data: { taskId: id, state: 'FAILED' } }]);
    await worker.stop(1);
  });

  it('is kept for five minutes for another process that has its generator', async () => {
    const { service, id } = await waiting('test#0');
    const other = await service.submit(me, image());
    await startWorker(['other#0']);
    const unknown = `select from media.task_steps where unknown_since is not null`;
    await until(async () => (await engine.pool.query(unknown)).rowCount === 2);
    await engine.pool.query(
      `update media.task_steps set unknown_since = now() - make_interval(secs => case when task_id = $1 then 60 else 301 end)`,
      [id],
    );
    expect((await engine.ended(service, other.id)).state).toBe('FAILED');
    // Both were looked at together.
    const { rows } = await engine.pool.query('select state from media.tasks where id = $1', [id]);
    expect(rows).toEqual([{ state: 'QUEUED' }]);
  });

  it('ends when it is to be cancelled, and keeps no other from being looked after', async () => {
    const lines: unknown[] = [];
    const error = (...line: unknown[]) => void lines.push(line[1]);
    const { service, id } = await waiting('test#0');
    const [refused, other] = [await service.submit(me, image()), await service.submit(me, image())];
    await engine.pool.query('delete from queue.jobs');
    await engine.pool.query('update media.tasks set cancel_requested_at = now() where id = $1', [id]);
    await engine.pool.query(`create function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'no more room'; end $$`);
    await engine.pool.query(`create trigger refuse before insert on queue.jobs for each row
      when (new.data->>'taskId' = '${refused.id}') execute function refuse()`);
    await startWorker(['test#0'], { logger: { ...engine.logger, error } });
    expect((await engine.ended(service, id)).state).toBe('CANCELLED');
    expect((await engine.ended(service, other.id)).state).toBe('SUCCEEDED');
    expect(lines).toContain('a waiting step could not be looked after');
    expect(await service.readMany(me, [refused.id])).toMatchObject([{ state: 'QUEUED' }]);
  });

  it('is left to who has claimed its attempt while another binding was looked for', async () => {
    const { id } = await waiting('test#0');
    await engine.pool
      .query(`with opened as (update media.task_steps set state = 'RUNNING', unknown_since = now() - interval '1 hour')
      insert into media.attempts (task_id, step, number, binding, provider, reference)
      select id, 1, 1, 'test#0', 'test', id || '/1/1' from media.tasks`);
    // The claim is written, and not committed yet.
    const other = await engine.pool.connect();
    await other.query('begin');
    await other.query('update media.attempts set claim = gen_random_uuid(), claimed_at = now()');
    await startWorker(['test#1']);
    const stuck = `select from pg_stat_activity where datname = current_database() and wait_event = 'transactionid'`;
    await until(async () => (await engine.pool.query(stuck)).rowCount === 1);
    await other.query('commit');
    other.release();
    await until(async () => (await engine.pool.query(stuck)).rowCount === 0);
    const { rows } = await engine.pool.query(
      'select state, binding from media.task_steps where task_id = $1',
      [id],
    );
    expect(rows).toEqual([{ state: 'RUNNING', binding: 'test#0' }]);
  });

  it('is looked after, however many wait before it', async () => {
    const { service, id } = await waiting('test#0');
    await engine.pool.query('delete from queue.jobs');
    await engine.pool.query(`with others as (
        insert into media.tasks (id, owner, kind, generator, input, state, stage, last_seq)
        select ('00000000-0000-7000-8000-' || lpad(number::text, 12, '0'))::uuid, 'many', 'IMAGE', 'test', input, 'QUEUED', 'queued', 1
        from media.tasks, generate_series(1, 500) as number returning id
      ), jobs as (
        insert into queue.jobs (id, queue, data)
        select gen_random_uuid(), 'media.start.elsewhere.0', jsonb_build_object('taskId', id, 'step', 1) from others)
      insert into media.task_steps (task_id, step, label, input, binding)
      select others.id, 1, '', step.input, 'elsewhere#0' from others, media.task_steps step`);
    await startWorker(['test#0']);
    expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
  });

  it('ends when it has waited too long, though it has a job', async () => {
    const { service, id } = await waiting('test#0');
    await startWorker(['other#0'], { queueMaxHours: 2, limits: { unconfiguredSeconds: 1_000_000 } });
    await letPass('119 minutes');
    await letPass('2 minutes');
    expect(await engine.ended(service, id)).toMatchObject({
      state: 'FAILED',
      error: { code: 'TIMED_OUT', message: 'it could not be started within 2 h' },
    });
  });
});

describe('a step that waits for its result to be stored', () => {
  it('gets another job when its own was deleted', async () => {
    const { service, id } = await waiting('test#0');
    const limits = { sweepPauseMs: 1_000_000 };
    engine.files.unavailable = 1_000;
    const worker = await startWorker(['test#0'], { limits });
    await until(async () => engine.files.unavailable < 1_000);
    await worker.stop(1);
    await engine.pool.query(`delete from queue.jobs where queue = 'media.store-result'`);
    // A copy of it that has waited for more than a day and an hour.
    const late = newId();
    for (const [table, named] of [
      ['tasks', 'id'],
      ['task_steps', 'task_id'],
    ] as const) {
      await engine.pool.query(
        `insert into media.${table} select (jsonb_populate_record(one, $2::jsonb)).* from media.${table} one where ${named} = $1`,
        [id, JSON.stringify({ [named]: late })],
      );
    }
    await engine.pool.query(
      `update media.task_steps set waiting_since = now() - interval '25 hours 1 minute' where task_id = $1`,
      [late],
    );
    engine.files.unavailable = 0;
    await startWorker(['test#0']);
    expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
    expect((await engine.ended(service, late)).error).toEqual({
      code: 'STORAGE_FAILED',
      message: 'the result could not be stored in time',
      retryable: false,
    });
    expect(upstream.starts).toHaveLength(1);
  });
});
