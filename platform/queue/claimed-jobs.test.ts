import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { migratedDatabase } from '../../test/kit/database/migrated.ts';
import type { TestDatabase } from '../../test/kit/database/postgres.ts';
import { createDatabase, type Database } from '../database/database.ts';
import { newId } from '../ids.ts';
import type { Json } from '../json.ts';
import { silentLogger } from '../process/logger.ts';
import { createClaims } from './claim.ts';
import { type ClaimedJobs, createClaimedJobs, type Settlement } from './claimed-jobs.ts';
import type { NewJob } from './queue.ts';
import { enqueueStatement } from './waiting-jobs.ts';

/** The rules of the job table, without workers. */

const QUEUE = 'rules';
let home: TestDatabase;
let database: Database;
let jobs: ClaimedJobs;
beforeAll(async () => {
  home = await migratedDatabase();
  const logger = silentLogger();
  database = createDatabase({ config: home.config, maxConnections: 8, applicationName: 'test', logger });
  jobs = createClaimedJobs(database.pool);
});
beforeEach(async () => {
  await database.pool.query('truncate queue.jobs, queue.queues');
  await database.pool.query(`insert into queue.queues values ($1, 2, 8, 20)`, [QUEUE]);
});
afterAll(async () => {
  await database.close();
  await home.drop();
});

async function enqueue(amount: number, job: Partial<NewJob> = {}): Promise<void> {
  const list = Array.from({ length: amount }, (_, data) => ({ queue: QUEUE, data, ...job }));
  const statement = enqueueStatement(list);
  await database.pool.query(statement.text, [statement.jobs]);
}

const claim = (limit: number) => createClaims(database.pool, QUEUE)(limit);

async function claimOne() {
  const [job] = (await claim(1)).jobs;
  if (job === undefined) throw new Error('nothing is due');
  return job;
}

async function row() {
  const { rows } = await database.pool.query<Record<string, unknown>>(
    `select state, retries, claims, owner, error, data, ended_at is not null as "hasEnded",
      extract(epoch from due_at - now())::float8 as "dueIn" from queue.jobs`,
  );
  return rows[0];
}

const endLeases = () =>
  database.pool.query(`update queue.jobs set lease_ends_at = now() - interval '1 second'`);
const makeDue = () => database.pool.query('update queue.jobs set due_at = now()');

test('claimers at the same time never get the same job, and together get all of them', async () => {
  await enqueue(300);
  const claimers = Array.from({ length: 6 }, () => createClaims(database.pool, QUEUE));
  const ids: string[] = [];
  await Promise.all(
    claimers.map(async (fetch) => {
      for (let rounds = 0; rounds < 200 && ids.length < 300; rounds += 1)
        ids.push(...(await fetch(7)).jobs.map(({ id }) => id));
    }),
  );
  expect([ids.length, new Set(ids).size]).toEqual([300, 300]);
});

test('a lease that ended gives the job to the next worker, and takes it from the one before', async () => {
  await enqueue(1);
  const lost = await claimOne();
  expect([...(await jobs.extend([lost]))]).toEqual([lost.id]);
  expect(await jobs.reclaimLost()).toEqual([]);
  await endLeases();
  expect(await jobs.reclaimLost()).toEqual([{ queue: QUEUE, id: lost.id, state: 'waiting' }]);
  const taken = await claimOne();
  expect([taken.id, taken.retries, taken.claims]).toEqual([lost.id, lost.retries + 1, lost.claims + 1]);
  expect([...(await jobs.extend([lost])), ...(await jobs.settle([[lost, { kind: 'completed' }]]))]).toEqual(
    [],
  );
  expect(await row()).toMatchObject({ state: 'active', hasEnded: false });
});

test('a job whose workers were lost each time fails for good, and tells no owner any more', async () => {
  await enqueue(1, { owner: 'a-person' });
  for (const state of ['waiting', 'waiting', 'failed']) {
    await claimOne();
    await endLeases();
    expect(await jobs.reclaimLost()).toMatchObject([{ state }]);
  }
  expect(await row()).toMatchObject({ state: 'failed', hasEnded: true, owner: '-' });
});

test('an outcome that is sent again, as its acknowledgement was lost, changes nothing', async () => {
  await enqueue(1);
  const job = await claimOne();
  const failed: Settlement = { kind: 'failed', reason: 'once' };
  expect((await jobs.settle([[job, failed]])).size).toBe(1);
  expect((await jobs.settle([[job, failed]])).size).toBe(0);
  expect(await row()).toMatchObject({ state: 'waiting', retries: 1, error: 'once' });
  await makeDue();
  const next = await claimOne();
  expect((await jobs.settle([[job, failed]])).size).toBe(0);
  expect((await jobs.settle([[next, { kind: 'completed' }]])).size).toBe(1);
  expect(await row()).toMatchObject({ state: 'completed', retries: 1, error: null });
});

test('the pause before a retry doubles up to the longest, within a fifth, until the last retry', async () => {
  await enqueue(1);
  for (const [least, most] of [
    [6.4, 9.6],
    [12.8, 19.2],
  ] as const) {
    await makeDue();
    await jobs.settle([[await claimOne(), { kind: 'failed', reason: 'again' }]]);
    const { dueIn } = (await row()) ?? {};
    expect(dueIn).toBeGreaterThan(least - 1);
    expect(dueIn).toBeLessThanOrEqual(most);
  }
  await makeDue();
  await jobs.settle([[await claimOne(), { kind: 'failed', reason: 'for good' }]]);
  expect(await row()).toMatchObject({ state: 'failed', retries: 2, error: 'for good', hasEnded: true });
});

test('each outcome of a batch is its own, and one that was lost holds up no other', async () => {
  await enqueue(5);
  const { jobs: claimed } = await claim(5);
  const [done, failed, put, released, lost] = claimed;
  if (!done || !failed || !put || !released || !lost) throw new Error('five were enqueued');
  const held = await jobs.settle([
    [done, { kind: 'completed' }],
    [failed, { kind: 'failed', reason: 'broken' }],
    [put, { kind: 'again', inSeconds: 60, data: null }],
    [released, { kind: 'released' }],
    [{ ...lost, claims: lost.claims - 1 }, { kind: 'completed' }],
  ]);
  expect(held).toEqual(new Set([done.id, failed.id, put.id, released.id]));
  const { rows } = await database.pool.query<{ id: string; state: string; data: Json }>(
    `select id, state, data from queue.jobs`,
  );
  expect(Object.fromEntries(rows.map(({ id, state }) => [id, state]))).toEqual({
    [done.id]: 'completed',
    [failed.id]: 'waiting',
    [put.id]: 'waiting',
    [released.id]: 'waiting',
    [lost.id]: 'active',
  });
  expect(rows.find(({ id }) => id === put.id)?.data).toBeNull();
  // What was released has used no retry, and is due at once.
  expect((await claim(5)).jobs).toMatchObject([{ id: released.id, retries: 0, claims: 2 }]);
});

test('what ended a day ago is deleted, whether it succeeded or failed, and nothing else', async () => {
  const insert = (state: string, hours: number | null) =>
    database.pool.query(
      `insert into queue.jobs (id, queue, data, state, created_at, ended_at)
       values ($1, $2, 'null', $3, now() - interval '9 days', now() - $4 * interval '1 hour')`,
      [newId(), QUEUE, state, hours],
    );
  for (const state of ['completed', 'failed']) for (const hours of [23, 25]) await insert(state, hours);
  for (const state of ['waiting', 'active']) await insert(state, null);
  await database.pool.query(
    `insert into queue.jobs (id, queue, data, state, ended_at)
     select gen_random_uuid(), $1, 'null', 'completed', now() - interval '2 days' from generate_series(1, 2500)`,
    [QUEUE],
  );
  await jobs.prune();
  const { rows } = await database.pool.query<{ state: string }>(
    'select state from queue.jobs order by state',
  );
  expect(rows.map(({ state }) => state)).toEqual(['active', 'completed', 'failed', 'waiting']);
});
