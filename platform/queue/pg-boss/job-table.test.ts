import { afterAll, beforeAll, expect, test } from 'vitest';

import { type TestDatabase, testDatabase } from '../../../test/kit/database/postgres.ts';
import { createDatabase, type Database } from '../../database/database.ts';
import { createEventBus } from '../../events/postgres/postgres-event-bus.ts';
import { silentLogger } from '../../process/logger.ts';
import { SCHEMA } from './job-table.ts';
import { createQueue } from './pg-boss-queue.ts';

/** What job-table.ts takes for granted of pg-boss beyond its public interface: a new version that changes it fails here. */

let home: TestDatabase;
let database: Database;
beforeAll(async () => {
  home = await testDatabase();
  const logger = silentLogger();
  database = createDatabase({ config: home.config, maxConnections: 4, applicationName: 'test', logger });
  const bus = await createEventBus({ database, logger });
  const queue = await createQueue({ database, bus, logger });
  await queue.define('pinned', { retryLimit: 3, retryDelaySeconds: 2, retryDelayMaxSeconds: 60 });
  await database
    .typed()
    .transaction()
    .execute((transaction) => queue.enqueue(transaction, { queue: 'pinned', data: { a: 1 } }));
  await queue.stop(0);
  await bus.close();
});
afterAll(async () => {
  await database.close();
  await home.drop();
});

test('the states of jobs stand in the order of their life', async () => {
  const { rows } = await database.pool.query(
    `select unnest(enum_range(null::${SCHEMA}.job_state))::text as state`,
  );
  expect(rows.map(({ state }) => state)).toEqual([
    'created',
    'retry',
    'active',
    'completed',
    'cancelled',
    'failed',
  ]);
});

test('the columns that we read and write have these types', async () => {
  const { rows } = await database.pool.query(
    `select attname as name, format_type(atttypid, null) as type from pg_attribute
     where attrelid = '${SCHEMA}.job'::regclass and attnum > 0 and not attisdropped`,
  );
  expect(Object.fromEntries(rows.map(({ name, type }) => [name, type]))).toMatchObject({
    id: 'uuid',
    name: 'text',
    state: `${SCHEMA}.job_state`,
    data: 'jsonb',
    group_id: 'text',
    group_tier: 'text',
    created_on: 'timestamp with time zone',
    output: 'jsonb',
    blocked: 'boolean',
    retry_count: 'integer',
    retry_limit: 'integer',
    retry_delay: 'integer',
    retry_delay_max: 'integer',
    heartbeat_seconds: 'integer',
    heartbeat_on: 'timestamp with time zone',
    start_after: 'timestamp with time zone',
    started_on: 'timestamp with time zone',
    completed_on: 'timestamp with time zone',
    keep_until: 'timestamp with time zone',
  });
});

test('a job is a row of that table, with the options of its queue', async () => {
  const { rows } = await database.pool.query(
    `select state, data, retry_limit, retry_delay, retry_delay_max, heartbeat_seconds from ${SCHEMA}.job where name = 'pinned'`,
  );
  expect(rows).toEqual([
    {
      state: 'created',
      data: { a: 1 },
      retry_limit: 3,
      retry_delay: 2,
      retry_delay_max: 60,
      heartbeat_seconds: 10,
    },
  ]);
});
