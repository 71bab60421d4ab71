import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { type TestDatabase, testDatabase } from '../../test/kit/database/postgres.ts';
import { silentLogger } from '../process/logger.ts';
import { createDatabase, type Database } from './database.ts';
import { migrate, type MigrationSet } from './migrations.ts';

const logger = silentLogger();
let home: TestDatabase;
let database: Database;

beforeAll(async () => {
  home = await testDatabase();
  database = connect(1);
});
afterAll(async () => {
  await database.close();
  await home.drop();
});

function connect(maxConnections: number): Database {
  return createDatabase({ config: home.config, maxConnections, applicationName: 'migrations-test', logger });
}

function creates(table: string): Migration {
  return { up: async (db) => db.schema.createTable(table).addColumn('id', 'integer').execute() };
}

async function listTables(schema: string): Promise<string[]> {
  const { rows } = await database.pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = $1 order by 1`,
    [schema],
  );
  return rows.map(({ name }) => name);
}

test('makes each schema and its tables, once', async () => {
  const sets: MigrationSet[] = [
    { schema: 'one', migrations: { '001-first': creates('first'), '002-second': creates('second') } },
    { schema: 'two', migrations: { '001-first': creates('first') } },
  ];
  expect(await migrate({ database, sets, logger })).toEqual([
    'one/001-first',
    'one/002-second',
    'two/001-first',
  ]);
  expect(await listTables('one')).toEqual(['first', 'migrations', 'migrations_lock', 'second']);
  expect(await listTables('two')).toEqual(['first', 'migrations', 'migrations_lock']);
  expect(await migrate({ database, sets, logger })).toEqual([]);
});

test('adds what is new', async () => {
  const first = { '001-first': creates('first') };
  await migrate({ database, sets: [{ schema: 'grows', migrations: first }], logger });
  const more = { ...first, '002-more': creates('more') };
  expect(await migrate({ database, sets: [{ schema: 'grows', migrations: more }], logger })).toEqual([
    'grows/002-more',
  ]);
});

test('leaves nothing of a set in which one migration fails, and names it', async () => {
  const migrations = {
    '001-good': creates('good'),
    '002-bad': { up: async (db) => void (await sql`select nonsense`.execute(db)) } satisfies Migration,
  };
  await expect(migrate({ database, sets: [{ schema: 'broken', migrations }], logger })).rejects.toThrow(
    /migration broken\/002-bad failed: .*nonsense/,
  );
  expect(await listTables('broken')).not.toContain('good');
  const repaired = { ...migrations, '002-bad': creates('bad') };
  expect(
    await migrate({ database, sets: [{ schema: 'broken', migrations: repaired }], logger }),
  ).toHaveLength(2);
});

test('is refused behind a pooler while something is to be migrated, before anything is done', async () => {
  const sets = [{ schema: 'pooled', migrations: { '001-first': creates('first') } }];
  await expect(migrate({ database, sets, logger, isPooled: true })).rejects.toMatchObject({
    code: 'NOT_CONFIGURED',
    message: expect.stringContaining(
      'run npm run migrate with a DATABASE_URL that leads to PostgreSQL itself',
    ),
  });
  expect(await listTables('pooled')).toEqual([]);
  await migrate({ database, sets, logger });
  expect(await migrate({ database, sets, logger, isPooled: true })).toEqual([]);
});

test('runs beside a newer version, unless that took away what this one uses', async () => {
  const old = { schema: 'newer', migrations: { '001-a': creates('a') } };
  const added = { ...old.migrations, '002-b': creates('b') };
  await migrate({ database, sets: [{ ...old, migrations: added }], logger });
  expect(await migrate({ database, sets: [old], logger })).toEqual([]);
  const contracted = { ...added, '003-no-a-needs-002': { up: async () => undefined } };
  await migrate({ database, sets: [{ ...old, migrations: contracted }], logger });
  expect(await migrate({ database, sets: [{ ...old, migrations: added }], logger })).toEqual([]);
  await expect(migrate({ database, sets: [old], logger })).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('003-no-a-needs-002'),
  });
});

test('waits for a table that somebody holds, without holding up others for long', async () => {
  const first = { '001-first': creates('first') };
  await migrate({ database, sets: [{ schema: 'held', migrations: first }], logger });
  const [holder, writer] = [connect(1), connect(1)];
  const client = await holder.pool.connect();
  await client.query('begin; insert into held.first values (1)');
  const alters: Migration = {
    up: async (db) => void (await sql`alter table held.first add column more text`.execute(db)),
  };
  const migrated = migrate({
    database,
    sets: [{ schema: 'held', migrations: { ...first, '002-more': alters } }],
    logger,
  });
  const waiting = () =>
    client.query<{ count: number }>(`select count(*) from pg_locks
      where relation = 'held.first'::regclass and mode = 'AccessExclusiveLock' and not granted
      and database = (select oid from pg_database where datname = current_database())`);
  await expect.poll(async () => (await waiting()).rows[0]?.count).toBe(1);
  // It waits behind the migration, and gets through although the holder goes on.
  await writer.pool.query('insert into held.first values (2)');
  await client.query('commit');
  client.release();
  expect(await migrated).toEqual(['held/002-more']);
  await Promise.all([holder.close(), writer.close()]);
});

test('builds indexes beside who writes, once, and again what was left half built', async () => {
  const set: MigrationSet = {
    schema: 'indexed',
    migrations: { '001-first': creates('first') },
    indexes: { first_by_id: 'indexed.first (id)' },
  };
  const several = Array.from({ length: 3 }, () => connect(1));
  await Promise.all(several.map((each) => migrate({ database: each, sets: [set], logger })));
  for (const each of several) await each.close();
  const index = async () => {
    const { rows } = await database.pool.query<{ valid: boolean }>(
      `select indisvalid as valid from pg_index where indexrelid = to_regclass('indexed.first_by_id')`,
    );
    return rows;
  };
  expect(await index()).toEqual([{ valid: true }]);
  await database.pool.query(
    `update pg_index set indisvalid = false where indexrelid = to_regclass('indexed.first_by_id')`,
  );
  await migrate({ database, sets: [set], logger });
  expect(await index()).toEqual([{ valid: true }]);
});

test('builds unique indexes, and holds rows of before to a check, after the migrations', async () => {
  const set: MigrationSet = {
    schema: 'checked',
    migrations: { '001-first': creates('first') },
    indexes: { first_by_id: 'unique checked.first (id)' },
    checks: { positive: 'checked.first' },
  };
  await migrate({ database, sets: [set], logger });
  await database.pool.query('alter table checked.first add constraint positive check (id > 0) not valid');
  await migrate({ database, sets: [set], logger });
  const { rows } = await database.pool.query<{ unique: boolean; valid: boolean }>(
    `select indisunique as unique, convalidated as valid from pg_index, pg_constraint
      where indexrelid = 'checked.first_by_id'::regclass and conname = 'positive'`,
  );
  expect(rows).toEqual([{ unique: true, valid: true }]);
});

test('lets any number of processes start at once: one migrates, the others find it done', async () => {
  const processes = Array.from({ length: 5 }, () => connect(1));
  const sets = [
    { schema: 'raced', migrations: { '001-first': creates('first'), '002-second': creates('second') } },
  ];
  const applied = await Promise.all(processes.map((each) => migrate({ database: each, sets, logger })));
  expect(applied.filter(({ length }) => length === 2)).toHaveLength(1);
  expect(applied.flat()).toHaveLength(2);
  for (const each of processes) await each.close();
});

test('waits for nobody when there is nothing to do', async () => {
  const set = {
    schema: 'done',
    migrations: { '001-first': creates('first') },
    indexes: { first_by_id: 'done.first (id)' },
  };
  await migrate({ database, sets: [set], logger });
  const other = connect(1);
  const client = await other.pool.connect();
  // The lock of processes that migrate.
  await client.query('select pg_advisory_lock($1)', [0x4b_49_4c_4e]);
  expect(await migrate({ database, sets: [set], logger })).toEqual([]);
  client.release(true);
  await other.close();
});

test('gives its lock back when it fails', async () => {
  const failing = {
    schema: 'locked',
    migrations: { '001-bad': { up: () => Promise.reject(new Error('no')) } },
  };
  await expect(migrate({ database, sets: [failing], logger })).rejects.toThrow('no');
  const locks = async () => {
    const { rows } = await database.pool.query<{ count: number }>(
      `select count(*) as count from pg_locks where locktype = 'advisory'
       and database = (select oid from pg_database where datname = current_database())`,
    );
    return rows[0]?.count;
  };
  await expect.poll(locks).toBe(0);
});
