import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { RunningTaskService } from '../rules/service.ts';
import { image, me, toRegistry, startEngine, type TestEngine, until } from '../testing/engine.ts';
import { testBinding, testProvider } from '../testing/provider.ts';
import { startUpstream, type Upstream } from '../testing/upstream.ts';

/** Work whose beginning is long ago (a machine that was off, an older backup) ends like any other. */

let engine: TestEngine;
let upstream: Upstream;
let service: RunningTaskService;
let bindings: ReturnType<typeof toRegistry>;
beforeEach(async () => {
  engine = await startEngine();
  upstream = await startUpstream();
  const provider = testProvider(engine.http);
  bindings = toRegistry(testBinding('test#0', provider, upstream.url, { concurrency: 2 }));
  service = engine.service(bindings);
});
afterEach(async () => {
  await engine.stop();
  await upstream.close();
});

const COLUMNS = `select table_name, column_name from information_schema.columns
  where table_schema = 'media' and table_name in ('tasks', 'task_steps', 'attempts', 'task_events')
    and data_type = 'timestamp with time zone'`;

/** Everything that has happened so far happened this much earlier. */
async function moveBack(interval: string): Promise<void> {
  const { rows } = await engine.pool.query<{ table_name: string; column_name: string }>(COLUMNS);
  expect(rows.length).toBeGreaterThan(10);
  for (const { table_name: table, column_name: column } of rows) {
    await engine.pool.query(`update media.${table} set ${column} = ${column} - interval '${interval}'`);
  }
}

const count = async (table: string, condition: string) =>
  Number((await engine.pool.query(`select count(*) from media.${table} where ${condition}`)).rows[0].count);

async function submitted(prompt: string): Promise<string> {
  return (await service.submit(me, image(prompt))).id;
}

const awaitState = async (id: string) => (await engine.ended(service, id)).state;

describe.each(['40 days', '13 months'])('what began %s ago', (interval) => {
  it('is cancelled while it waits', async () => {
    const id = await submitted('waits');
    await moveBack(interval);
    await service.cancel(me, id);
    expect(await awaitState(id)).toBe('CANCELLED');
  });

  it('ends whatever its upstream says of it, and gives its place to the next', async () => {
    upstream.onStatus = () => ({ state: 'running', progress: 10 });
    const worker = await engine.worker(bindings);
    const [finished, failed] = [await submitted('finished'), await submitted('failed')];
    await until(async () => (await count('attempts', `state = 'RUNNING'`)) === 2);
    await worker.stop(1);
    await moveBack(interval);
    upstream.onStatus = ({ prompt }) =>
      prompt === 'failed' ? { state: 'failed', retryable: false } : { state: 'finished' };
    await engine.worker(bindings, { queue: await engine.anotherQueue() });
    const next = await submitted('next');
    expect(await awaitState(failed)).toBe('FAILED');
    expect(['SUCCEEDED', 'FAILED']).toContain(await awaitState(finished));
    expect(await awaitState(next)).toBe('SUCCEEDED');
    expect(
      await count(
        'attempts',
        `state in ('STARTING', 'RUNNING') or settled_at is null and state <> 'CANCELLED'`,
      ),
    ).toBe(0);
  });

  it('is cancelled while it runs', async () => {
    upstream.onStatus = () => ({ state: 'running', progress: 10 });
    const worker = await engine.worker(bindings);
    const id = await submitted('runs');
    await until(async () => (await count('attempts', `state = 'RUNNING'`)) === 1);
    await worker.stop(1);
    await moveBack(interval);
    await service.cancel(me, id);
    await engine.worker(bindings, { queue: await engine.anotherQueue() });
    expect(await awaitState(id)).toBe('CANCELLED');
  });

  it('is stored', async () => {
    const worker = await engine.worker(bindings);
    engine.files.unavailable = 1_000;
    const id = await submitted('stored');
    await until(async () => (await count('task_steps', `state = 'STORING'`)) === 1);
    await worker.stop(1);
    await moveBack(interval);
    engine.files.unavailable = 0;
    await engine.worker(bindings, { queue: await engine.anotherQueue() });
    expect(['SUCCEEDED', 'FAILED']).toContain(await awaitState(id));
  });

  it('waits no longer than it may, and ends', async () => {
    const id = await submitted('waited');
    await moveBack(interval);
    await engine.worker(bindings, { queueMaxHours: 24 });
    expect(['SUCCEEDED', 'FAILED']).toContain(await awaitState(id));
  });
});
