import type { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { migratedDatabase } from '../../test/kit/database/migrated.ts';
import type { TestDatabase } from '../../test/kit/database/postgres.ts';
import { createDatabase, type Database } from '../database/database.ts';
import { createEventBus } from '../events/postgres/postgres-event-bus.ts';
import { newId } from '../ids.ts';
import { silentLogger } from '../process/logger.ts';
import { findPgBossJobs, OPEN_PG_BOSS_JOBS, type PgBossJobs } from './pg-boss-jobs.ts';
import { createQueue } from './postgres-queue.ts';
import { createWaitingJobs } from './waiting-jobs.ts';

/** What release 0.2 has in its tables, as far as its statements and ours read it. */
const TABLES = `
  create schema pgboss;
  create type pgboss.job_state as enum ('created', 'retry', 'active', 'completed', 'cancelled', 'failed');
  create table pgboss.queue (
    name text primary key, retry_limit int not null, retry_delay int not null, retry_delay_max int);
  create table pgboss.job (
    id uuid not null default gen_random_uuid(), name text not null, data jsonb, state pgboss.job_state not null default 'created',
    group_id text, group_tier text, retry_count int not null default 0, blocked boolean not null default false,
    start_after timestamptz not null default now(), created_on timestamptz not null default now(), started_on timestamptz,
    completed_on timestamptz, heartbeat_on timestamptz, heartbeat_seconds int default 10, primary key (name, id));
  insert into pgboss.queue values ('old', 50, 1, 60), ('__pgboss__maintenance', 2, 0, null)`;

const logger = silentLogger();
let home: TestDatabase;
let database: Database;
let pool: Pool;
beforeAll(async () => {
  home = await migratedDatabase();
  database = createDatabase({ config: home.config, maxConnections: 4, applicationName: 'test', logger });
  ({ pool } = database);
});
beforeEach(async () => {
  await pool.query(`drop schema if exists pgboss cascade; truncate queue.jobs, queue.queues`);
});
afterAll(async () => {
  await database.close();
  await home.drop();
});

async function oldJobs(): Promise<PgBossJobs> {
  await pool.query(TABLES);
  const found = await findPgBossJobs(pool);
  if (found === null) throw new Error('the tables are there');
  return found;
}

const moved = async () =>
  (
    await pool.query(
      `select queue, data, owner, kind, state, retries, due_at > now() as "isLater" from queue.jobs order by data`,
    )
  ).rows as readonly unknown[];

const left = async () =>
  (await pool.query<{ data: string }>('select data from pgboss.job order by data')).rows.map(
    ({ data }) => data,
  );

test('a database that never had pg-boss has nothing to move', async () => {
  expect(await findPgBossJobs(pool)).toBeNull();
});

test('moves what waits with its turn, its time and its retries, and what a dead worker has left', async () => {
  const old = await oldJobs();
  await pool.query(`
    insert into pgboss.job (name, data, state, group_id, group_tier, retry_count, start_after, started_on, heartbeat_on) values
      ('old', '"1 waits"', 'created', 'a-person', 'video', 0, now(), null, null),
      ('old', '"2 has failed"', 'retry', null, null, 3, now() + interval '1 hour', now(), null),
      ('old', '"3 is worked"', 'active', null, null, 0, now(), now(), now()),
      ('old', '"4 was lost"', 'active', 'a-person', null, 1, now(), now(), now() - interval '11 seconds'),
      ('old', '"5 is done"', 'completed', null, null, 0, now(), now(), null)`);
  await old.move();
  const job = { queue: 'old', owner: '-', kind: '-', state: 'waiting', retries: 0, isLater: false };
  expect(await moved()).toEqual([
    { ...job, data: '1 waits', owner: 'a-person', kind: 'video' },
    { ...job, data: '2 has failed', retries: 4, isLater: true },
    { ...job, data: '4 was lost', owner: 'a-person', retries: 2 },
  ]);
  expect(await left()).toEqual(['3 is worked', '5 is done']);
  const { rows } = await pool.query('select * from queue.queues');
  expect(rows).toEqual([{ name: 'old', retry_limit: 50, retry_delay: 1, retry_delay_max: 60 }]);
  const waiting = createWaitingJobs(pool, OPEN_PG_BOSS_JOBS);
  expect(await waiting.withoutJob('old', ['1 waits', '3 is worked', '5 is done'])).toEqual(['5 is done']);
});

test('several processes that move at once move each job once', async () => {
  const old = await oldJobs();
  await pool.query(
    `insert into pgboss.job (name, data) select 'old', to_jsonb(i) from generate_series(1, 2000) as i`,
  );
  for (let rounds = 0; rounds < 5; rounds += 1)
    await Promise.all([old.move(), old.move(), old.move(), old.move()]);
  expect(await left()).toEqual([]);
  const { rows } = await pool.query(
    'select count(*)::int, count(distinct data)::int as data from queue.jobs',
  );
  expect(rows).toEqual([{ count: 2000, data: 2000 }]);
});

test('a job that a process of the release before enqueues later is worked here', async () => {
  await pool.query(TABLES);
  const bus = await createEventBus({ database, logger });
  const queue = await createQueue({ database, bus, logger });
  expect(await queue.isDefined('old')).toBe(true);
  const ran: unknown[] = [];
  await queue.work('old', { slots: 1 }, async ({ data }) => void ran.push(data));
  await pool.query(`insert into pgboss.job (id, name, data) values ($1, 'old', '"late"')`, [newId()]);
  await expect.poll(() => ran).toEqual(['late']);
  await queue.stop(1);
  await bus.close();
});

test('deletes there what ended a day ago', async () => {
  const old = await oldJobs();
  await pool.query(`
    insert into pgboss.job (name, data, state, completed_on) values
      ('old', '"a day"', 'completed', now() - interval '25 hours'),
      ('old', '"an hour"', 'completed', now() - interval '1 hour')`);
  await old.prune();
  expect(await left()).toEqual(['an hour']);
});
