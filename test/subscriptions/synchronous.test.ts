import { setTimeout as pause } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { graphql, rest, until, type RestAnswer } from '../kit/clients/requests.ts';
import { extent } from '../kit/extent.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';

/** The documented operation that waits for its image. While it waits it is a subscriber like any other. */

const CALLERS = extent(30, 300);
const path = (prompt: string, maxWait?: number): string =>
  `/api/agg/imga/sync/image?${new URLSearchParams({ prompt, ...(maxWait && { max_wait_time: String(maxWait) }) }).toString()}`;

let kiln: KilnUnderTest;
beforeAll(async () => {
  kiln = await startKiln();
});
afterAll(() => kiln?.close());

const watchers = () => Promise.resolve(kiln.media.watcherCount());
const call = (prompt: string, maxWait?: number) => rest(kiln.url, 'POST', path(prompt, maxWait));

/** The same as a client does it: told that Kiln is busy, it comes again when it is told to. */
async function callUntilTaken(prompt: string): Promise<RestAnswer> {
  for (;;) {
    const answer = await call(prompt);
    if (answer.status !== 503) return answer;
    await pause(Number(answer.headers.get('retry-after')) * 1_000);
  }
}

/** Has the upstream work on one image that never ends, with everything else behind it; answers how it is let go. */
async function blockUpstream(): Promise<() => Promise<void>> {
  await kiln.control('latency', { wire: 'midjourney', queuedMs: 0, runningMs: 50, concurrency: 1 });
  await kiln.control('faults', { wire: 'midjourney', operation: 'imagine', fault: 'stall' });
  const { data } = await graphql(
    kiln.url,
    'mutation { generateImage(input: { generator: "agg/imga", prompt: "the blocker" }) { id } }',
  );
  const { id } = data.generateImage;
  await until(
    () => graphql(kiln.url, 'query ($id: ID!) { task(id: $id) { progress } }', { id }),
    (answer) => answer.data.task.progress > 0,
  );
  return async () => {
    await kiln.control('latency', { wire: 'midjourney', concurrency: 200 });
    await graphql(kiln.url, 'mutation ($id: ID!) { cancelTask(id: $id) { id } }', { id });
  };
}

describe('POST /api/agg/imga/sync/image', () => {
  it('answers with the running form when max_wait_time has passed, and the task goes on', async () => {
    const release = await blockUpstream();
    const { status, body } = await call('not yet', 1);
    expect([status, ['queued', 'running'].includes(body.status)]).toEqual([200, true]);
    expect(body.data).toMatchObject({
      task_id: expect.any(String),
      state: body.status,
      progress: expect.any(Number),
    });
    expect(await watchers()).toBe(0);
    await release();
    expect(await awaitEnd(body.data.task_id)).toMatchObject({
      status: true,
      data: { url: expect.any(String) },
    });
  });

  it(`lets ${CALLERS} callers wait without a database connection, and hangs up for one alone`, async () => {
    const release = await blockUpstream();
    const hangUp = new AbortController();
    const leaver = fetch(`${kiln.url}${path('the one who left')}`, { method: 'POST', signal: hangUp.signal });
    leaver.catch(() => undefined);
    const callers = Promise.all(
      Array.from({ length: CALLERS - 1 }, (_, index) => callUntilTaken(`image ${index}`)),
    );
    callers.catch(() => undefined);
    await until(watchers, (count) => count === CALLERS, 60_000);

    const { pool } = kiln.runtime.database;
    const inUse = () => Promise.resolve(pool.totalCount - pool.idleCount + pool.waitingCount);
    // The worker and the pollers take one now and then; a waiting caller that held one would hold it all the time.
    for (let look = 0; look < 5; look += 1) await until(inUse, (count) => count === 0);
    const { rows } = await pool.query<{ open: number }>(
      `select count(*)::int as open from pg_stat_activity where datname = current_database() and application_name = 'kiln all'`,
    );
    expect(rows[0]?.open).toBeLessThanOrEqual(11);
    const others = await Promise.all(
      Array.from({ length: 20 }, () =>
        rest(kiln.url, 'GET', '/api/task/status/0199aaaa-0000-7000-8000-000000000000'),
      ),
    );
    expect(others.map(describeOutcome)).toEqual(others.map(() => '200 false'));
    expect(await watchers()).toBe(CALLERS);

    const leaverTask = await findTask('the one who left');
    hangUp.abort();
    await expect(leaver).rejects.toThrow('aborted');
    await until(watchers, (count) => count === CALLERS - 1);
    await release();
    const answers = await callers;
    expect(answers.map(describeOutcome)).toEqual(answers.map(() => '200 true'));
    expect(await awaitEnd(leaverTask)).toMatchObject({ status: true, data: { url: expect.any(String) } });
    expect(await watchers()).toBe(0);
  });
});

function describeOutcome({ status, body }: RestAnswer): string {
  return `${status} ${String(body.status)}`;
}

async function findTask(prompt: string): Promise<string> {
  const { rows } = await kiln.runtime.database.pool.query<{ id: string }>(
    `select id from media.tasks where input::text like '%' || $1 || '%'`,
    [prompt],
  );
  expect(rows).toHaveLength(1);
  return rows[0]?.id ?? '';
}

async function awaitEnd(taskId: string): Promise<unknown> {
  const { body } = await until(
    () => rest(kiln.url, 'GET', `/api/task/status/${taskId}`),
    (answer) => typeof answer.body.status === 'boolean',
  );
  return body;
}
