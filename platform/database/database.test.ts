import { afterAll, beforeAll, expect, test } from 'vitest';

import { type TestDatabase, testDatabase } from '../../test/kit/database/postgres.ts';
import { startRelay } from '../../test/kit/database/relay.ts';
import { databaseAway } from '../database-away.ts';
import { AppError } from '../errors.ts';
import { createLogger, silentLogger } from '../process/logger.ts';
import { runInSpan, type Span } from '../tracing/span.ts';
import { createDatabase, type Database, isUniqueViolation } from './database.ts';

const logger = silentLogger();
let home: TestDatabase;
let database: Database;

beforeAll(async () => {
  home = await testDatabase();
  database = createDatabase({
    config: home.config,
    maxConnections: 3,
    applicationName: 'database-test',
    logger,
  });
  await database.pool.query('create table numbers (id bigint constraint numbers_once primary key)');
});
afterAll(async () => {
  await database.close();
  await home.drop();
});

test('reads counts and other bigints as numbers', async () => {
  const { rows } = await database.pool.query(
    'select count(*) as count, 9007199254740991::bigint as largest from numbers',
  );
  expect(rows).toEqual([{ count: 0, largest: 9_007_199_254_740_991 }]);
});

test('refuses a bigint that no number can hold, and the connection stays usable', async () => {
  await expect(database.pool.query('select 9007199254740993::bigint')).rejects.toThrow('no exact number');
  await database.check();
});

test('lends typed access to the tables that the caller names', async () => {
  const tables = database.typed<{ numbers: { id: number } }>();
  await tables.insertInto('numbers').values({ id: 1 }).execute();
  expect(await tables.selectFrom('numbers').select('id').execute()).toEqual([{ id: 1 }]);
});

test('tells a duplicate key from other errors, by constraint if asked', async () => {
  await database.pool.query('insert into numbers values (2)');
  const thrown: unknown = await database.pool
    .query('insert into numbers values (2)')
    .catch((error: unknown) => error);
  expect(isUniqueViolation(thrown)).toBe(true);
  expect(isUniqueViolation(thrown, 'numbers_once')).toBe(true);
  expect(isUniqueViolation(thrown, 'another')).toBe(false);
  const other: unknown = await database.pool.query('select nonsense').catch((error: unknown) => error);
  expect(isUniqueViolation(other)).toBe(false);
});

test('survives that the server ends its connections', async () => {
  const other = createDatabase({ config: home.config, maxConnections: 2, applicationName: 'victim', logger });
  await other.check();
  await database.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'victim'`,
  );
  await expect.poll(() => isConnected(other)).toBe(true);
  await other.close();
});

/** A pool waits for a connection no longer than a statement may take; where that is short, tests wait until it has one. */
const isConnected = (to: Database): Promise<boolean> =>
  to.check().then(
    () => true,
    () => false,
  );

test('ends a statement that takes longer than allowed', async () => {
  const hasty = createDatabase({
    config: home.config,
    maxConnections: 1,
    applicationName: 'hasty',
    logger,
    statementTimeoutMs: 500,
  });
  await expect.poll(() => isConnected(hasty)).toBe(true);
  await expect(hasty.pool.query('select pg_sleep(60)')).rejects.toThrow('statement timeout');
  await hasty.close();
});

test('refuses at once who would wait in vain for a connection, and nobody when it is free again', async () => {
  const small = createDatabase({
    config: home.config,
    maxConnections: 1,
    applicationName: 'small',
    logger,
    statementTimeoutMs: 1_000,
  });
  await expect.poll(() => isConnected(small)).toBe(true);
  const ask = () =>
    small.pool.query('select 1').then(
      () => 'answered',
      (thrown: unknown) => (thrown instanceof AppError ? [thrown.code, thrown.retryAfter] : String(thrown)),
    );
  const crowd = () => Promise.all(Array.from({ length: 20 }, ask));
  const held = await small.pool.connect();
  expect(new Set(await crowd())).toEqual(new Set(['Error: timeout exceeded when trying to connect']));
  expect(await crowd()).toContainEqual(['UNAVAILABLE', expect.any(Number)]);
  held.release();
  expect(new Set(await Promise.all(Array.from({ length: 5 }, ask)))).toEqual(new Set(['answered']));
  await expect.poll(async () => new Set(await crowd())).toEqual(new Set(['answered']));
  await small.close();
});

test('refuses nobody for how long the first connections took to open', async () => {
  const relay = await startRelay(home);
  const opening = createDatabase({
    config: { connectionString: relay.url },
    maxConnections: 2,
    applicationName: 'opening',
    logger,
    statementTimeoutMs: 1_000,
  });
  const crowd = () =>
    Promise.all(
      Array.from({ length: 40 }, () => opening.pool.query('select 1').then(() => 'answered', String)),
    );
  relay.hold();
  expect(new Set(await crowd())).not.toContain('answered');
  relay.release();
  await expect.poll(() => isConnected(opening)).toBe(true);
  expect(new Set(await crowd())).toEqual(new Set(['answered']));
  await opening.close();
  relay.stop();
});

test('takes no connection back whose server left a statement without an answer', async () => {
  const relay = await startRelay(home);
  const hanging = createDatabase({
    config: { connectionString: relay.url },
    maxConnections: 1,
    applicationName: 'hanging',
    logger,
    statementTimeoutMs: 500,
  });
  await expect.poll(() => isConnected(hanging)).toBe(true);
  const client = await hanging.pool.connect();
  const readPid = async (asked: Pick<typeof client, 'query'>) =>
    (await asked.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0];
  const before = await readPid(client);
  relay.hold();
  await expect(readPid(client)).rejects.toThrow('Query read timeout');
  relay.release();
  // As whoever knows nothing of it gives it back.
  client.release();
  await expect.poll(() => isConnected(hanging)).toBe(true);
  const other = await hanging.pool.connect();
  expect(await readPid(other)).not.toEqual(before);
  other.release();
  await hanging.close();
  relay.stop();
});

test('says UNAVAILABLE when nobody answers', async () => {
  const nowhere = createDatabase({
    config: { connectionString: 'postgresql://nobody@127.0.0.1:1/none' },
    maxConnections: 1,
    applicationName: 'nowhere',
    logger,
  });
  await expect(nowhere.check()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await nowhere.close();
});

test('knows the errors of an absent or hanging server from those of statements', async () => {
  for (const host of ['127.0.0.1', '/tmp/no-such-folder']) {
    const absent = createDatabase({
      config: { host, port: 1, user: 'nobody', database: 'none' },
      maxConnections: 1,
      applicationName: 'test',
      logger: silentLogger(),
    });
    const refused = await absent.pool.query('select 1').catch((thrown: unknown) => thrown);
    await absent.close();
    expect(databaseAway(refused)).toMatchObject({ code: 'UNAVAILABLE', retryAfter: 2 });
  }
  const cancelled = await database.pool
    .query(`do $$ begin raise exception 'busy' using errcode = '57014'; end $$`)
    .catch((thrown: unknown) => thrown);
  expect(databaseAway(cancelled)).toMatchObject({ code: 'UNAVAILABLE' });
  const wrong = await database.pool.query('select 1/0').catch((thrown: unknown) => thrown);
  expect(databaseAway(wrong)).toBeUndefined();
  expect(
    databaseAway(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })),
  ).toBeUndefined();
  // A pooler's, which will not be another one by itself.
  const unsupported = new Error('unsupported startup parameter: statement_timeout');
  expect(databaseAway(Object.assign(unsupported, { code: '08P01' }))).toBeUndefined();
});

test('may be closed twice', async () => {
  const twice = createDatabase({ config: home.config, maxConnections: 1, applicationName: 'twice', logger });
  await twice.check();
  await expect(Promise.all([twice.close(), twice.close()])).resolves.toHaveLength(2);
});

test('is closed only when its connections are, and says nothing of them when the server ends them later', async () => {
  const lines: string[] = [];
  const logger = createLogger({
    level: 'warn',
    destination: { write: (line: string) => void lines.push(line) },
  });
  const brief = createDatabase({ config: home.config, maxConnections: 5, applicationName: 'brief', logger });
  await Promise.all(Array.from({ length: 5 }, () => brief.check()));
  await brief.close();
  expect(brief.pool.totalCount).toBe(0);
  await database.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'brief'`,
  );
  expect(lines).toEqual([]);
});

test('does not wait for ever for a connection that is not given back', async () => {
  const lines: string[] = [];
  const logger = createLogger({
    level: 'warn',
    destination: { write: (line: string) => void lines.push(line) },
  });
  const leaky = createDatabase({ config: home.config, maxConnections: 1, applicationName: 'leaky', logger });
  const client = await leaky.pool.connect();
  await leaky.close();
  expect(lines.join('')).toContain('still in use');
  client.release(true);
});

test('outlives a connection that is ended while a transaction holds it', async () => {
  const client = await database.pool.connect();
  await client.query('begin');
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const ended = new Promise((resolve) => client.once('end', resolve));
  await database.pool.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
  await ended;
  await expect(client.query('select 1')).rejects.toThrow(/connection|queryable/i);
  client.release(true);
  await database.check();
});

const oneConnection = () =>
  createDatabase({ config: home.config, maxConnections: 1, applicationName: 'single', logger });

test('plans a marked statement once per connection, and goes on when its table gets another column', async () => {
  const single = oneConnection();
  await single.pool.query('create table letters (letter text)');
  const read = () =>
    single.pool.query('/* prepared: letters.read */ select letter from letters where letter > $1', ['a']);
  await single.pool.query(`insert into letters values ('b')`);
  for (let times = 0; times < 3; times += 1) expect((await read()).rows).toEqual([{ letter: 'b' }]);
  await single.pool.query('alter table letters add column size integer');
  expect((await read()).rows).toEqual([{ letter: 'b' }]);
  const { rows } = await single.pool.query(
    'select name, generic_plans + custom_plans as uses from pg_prepared_statements',
  );
  expect(rows).toEqual([{ name: 'letters.read#0', uses: 4 }]);
  await single.close();
});

test('plans marked statements at every call when there are too many of them', async () => {
  const single = oneConnection();
  for (const name of ['first', 'second', 'third', 'fourth', 'fifth']) {
    for (let index = 0; index < 55; index += 1) {
      await single.pool.query(`/* prepared: ${name} */ select $1::int + ${index}`, [1]);
    }
  }
  const { rows } = await single.pool.query(
    `select split_part(name, '#', 1) as name, count(*) as count from pg_prepared_statements group by 1 order by min(prepare_time)`,
  );
  // Fifty texts of each name, so that none takes the place of all others, and two hundred altogether.
  expect(rows).toEqual(['first', 'second', 'third', 'fourth'].map((name) => ({ name, count: 50 })));
  await single.close();
});

test('makes one span of each statement of traced work, called by its name or else by its first word', async () => {
  const spans: unknown[] = [];
  const work: Span = {
    traceparent: 'work',
    child: (...span) => (spans.push(span), work),
    rename: () => undefined,
    set: () => undefined,
    fail: () => undefined,
    end: () => undefined,
  };
  const ask = async (isTraced: boolean) => {
    const asked = createDatabase({
      config: home.config,
      maxConnections: 1,
      applicationName: 'traced',
      logger,
      isTraced,
    });
    await runInSpan(work, async () => {
      await asked.pool.query('/* tasks.read-all */ select 1');
      await asked.pool.query('/* prepared: tasks.own */ select $1::int', [1]);
      await asked.pool.query({ text: '  SELECT 2' });
      await asked.pool.query('');
      const client = await asked.pool.connect();
      await client.query('select 3');
      client.release();
    });
    await asked.pool.query('select 4');
    await asked.close();
  };
  await ask(false);
  expect(spans).toEqual([]);
  await ask(true);
  const options = { kind: 'client', attributes: { 'db.system.name': 'postgresql' } };
  const names = ['tasks.read-all', 'tasks.own', 'select', 'statement', 'select'];
  expect(spans).toEqual(names.map((name) => [`sql ${name}`, options]));
});
