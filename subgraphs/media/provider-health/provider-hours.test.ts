import { afterAll, beforeAll, expect, it } from 'vitest';

import { createDatabase, type Database } from '../../../platform/database/database.ts';
import { silentLogger } from '../../../platform/process/logger.ts';
import { migratedDatabase } from '../../../test/kit/database/migrated.ts';
import type { TestDatabase } from '../../../test/kit/database/postgres.ts';
import { mediaDatabase } from '../database/database.ts';
import { createProviderHours } from './provider-hours.ts';

let test: TestDatabase;
let database: Database;

beforeAll(async () => {
  test = await migratedDatabase();
  database = createDatabase({
    config: test.config,
    maxConnections: 1,
    applicationName: 'hours',
    logger: silentLogger(),
  });
});
afterAll(async () => {
  await database?.close();
  await test?.drop();
});

async function endAt(time: string, state = 'SUCCEEDED'): Promise<void> {
  // The task of an attempt is of no matter here.
  await database.pool.query('set session_replication_role = replica');
  await database.pool.query(
    `insert into media.attempts (task_id, step, number, binding, provider, model, reference, state, claim, claimed_at, started_at, ended_at)
      select id, 1, 1, 'fox#0', 'openai', 'gpt-image-2', id::text, $2, gen_random_uuid(), $1, $1, $1 from gen_random_uuid() as id`,
    [time, state],
  );
}

it('hours that are over are counted once, the others anew', async () => {
  let now = '2026-11-26T12:30:00Z';
  const hours = createProviderHours({
    database: mediaDatabase(database),
    registry: { all: () => [] },
    clock: () => Date.parse(now),
  });
  const found = async () =>
    (await hours())
      .map(({ hour, attempts, succeeded }) => `${hour.toISOString().slice(8, 13)} ${attempts} ${succeeded}`)
      .toSorted();
  await endAt('2026-11-25T11:59:59Z');
  await endAt('2026-11-25T12:10:00Z');
  await endAt('2026-11-26T11:10:00Z', 'FAILED');
  await endAt('2026-11-26T12:10:00Z');
  expect(await found()).toEqual(['25T12 1 1', '26T11 1 0', '26T12 1 1']);
  // Kept for half a minute.
  await endAt('2026-11-26T12:29:00Z');
  expect(await found()).toHaveLength(3);
  now = '2026-11-26T13:02:00Z';
  await endAt('2026-11-26T12:59:59Z');
  await database.pool.query(`delete from media.attempts where ended_at < '2026-11-26T12:00:00Z'`);
  expect(await found()).toEqual(['26T11 1 0', '26T12 3 3']);
  now = '2026-11-26T13:06:00Z';
  await endAt('2026-11-26T13:03:00Z');
  expect(await found()).toEqual(['26T11 1 0', '26T12 3 3', '26T13 1 1']);
});
