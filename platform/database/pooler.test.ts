import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { DatabaseError, type PoolClient } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { testDatabase, type TestDatabase } from '../../test/kit/database/postgres.ts';
import { isOnPath, startServerOnPath, type ServerOnPath } from '../../test/kit/processes/server-on-path.ts';
import { silentLogger } from '../process/logger.ts';
import { withAdvisoryLock } from './advisory-lock.ts';
import { createDatabase, type Database } from './database.ts';
import { migrate } from './migrations.ts';
import { onceThere } from './once-there.ts';
import { checkPooler, type PoolerOptions } from './pooler.ts';

const logger = silentLogger();
const hasPgbouncer = isOnPath('pgbouncer');
let home: TestDatabase;
const open: { close(): Promise<unknown> }[] = [];
beforeAll(async () => {
  home = await testDatabase();
});
afterAll(async () => {
  for (const part of open.toReversed()) await part.close();
  await home.drop();
});

/** The name of a user of this machine. */
function readName(uid: number): string {
  return execFileSync('id', ['-nu', String(uid)], { encoding: 'utf8' }).trim();
}

/** PgBouncer before the test's database, in transaction mode. */
async function startPgbouncer(settings: Readonly<Record<string, string>>): Promise<ServerOnPath> {
  const folder = mkdtempSync(path.join(tmpdir(), 'kiln-pgbouncer-'));
  const { host, port, user, database } = home.config;
  const server = await startServerOnPath('pgbouncer', (listenPort) => {
    const file = path.join(folder, 'pgbouncer.ini');
    const own = Object.entries({
      listen_addr: '127.0.0.1',
      listen_port: listenPort,
      unix_socket_dir: '',
      auth_type: 'any',
      pool_mode: 'transaction',
      ...settings,
    }).map(([name, value]) => `${name} = ${value}`);
    const target = `${database} = host=${host} port=${port} user=${user}`;
    writeFileSync(file, ['[databases]', target, '[pgbouncer]', ...own, ''].join('\n'), { mode: 0o644 });
    // It refuses to run as root; who owns the folder of PostgreSQL's socket reaches that socket.
    const { uid } = statSync(String(host));
    return process.getuid?.() === 0 ? ['-u', readName(uid), file] : [file];
  });
  open.push({ close: async () => rmSync(folder, { recursive: true }) }, { close: () => server.stop() });
  return server;
}

function through({ port }: ServerOnPath, more: { readonly prepares?: boolean } = {}): Database {
  const config = { host: '127.0.0.1', port, user: 'anybody', database: home.config.database };
  const database = createDatabase({ config, maxConnections: 4, applicationName: 'test', logger, ...more });
  open.push(database);
  return database;
}

const IGNORED = { ignore_startup_parameters: 'statement_timeout,idle_in_transaction_session_timeout' };

it('is not recognised where there is none', async () => {
  const database = createDatabase({
    config: home.config,
    maxConnections: 4,
    applicationName: 'test',
    logger,
  });
  open.push(database);
  expect(await checkPooler({ database, prepares: true, listens: true, logger })).toBe(false);
});

/** A pool whose clients answer as told: with the number of their connection, or by throwing. */
function scriptedPool(answer: (client: number, statement: string) => number | Error, most = 99) {
  const released: unknown[] = [];
  const asked: string[] = [];
  let clients = 0;
  const connect = async (): Promise<PoolClient> => {
    if (clients >= most) throw new Error('no connection');
    clients += 1;
    const client = clients;
    return {
      async query(query: string | { readonly name: string }) {
        const statement = typeof query === 'string' ? query : query.name;
        asked.push(`${client}: ${statement}`);
        const answered = answer(client, statement);
        if (answered instanceof Error) throw answered;
        return { rows: [{ pid: answered }] };
      },
      release: (isGone?: boolean) => void released.push([client, isGone]),
    } as Partial<PoolClient> as PoolClient;
  };
  const warnings: unknown[] = [];
  const warn = (fields: object | string) => void warnings.push(fields);
  const check = (more: Partial<PoolerOptions> = {}) =>
    checkPooler({
      database: { pool: { connect } } as unknown as PoolerOptions['database'],
      prepares: true,
      listens: true,
      logger: { ...logger, warn },
      ...more,
    });
  return { check, released, asked, warnings };
}

describe('a pooler in transaction mode', () => {
  const unknown = Object.assign(new DatabaseError('no such statement', 1, 'error'), { code: '26000' });

  it('is none where two clients have connections of their own, three times', async () => {
    const { check, released, asked, warnings } = scriptedPool((client) => client);
    expect(await check()).toBe(false);
    expect(asked).toHaveLength(9);
    expect(released).toEqual([1, 2, 3, 4, 5, 6].map((client) => [client, true]));
    expect(warnings).toEqual([]);
  });

  it('is one where two have the same, and is said to be so', async () => {
    const { check, released, asked, warnings } = scriptedPool(() => 7);
    expect(await check({ listens: false })).toBe(true);
    expect(asked).toEqual([
      '1: kiln.pooler',
      '2: begin',
      '2: select pg_backend_pid() as pid',
      '1: kiln.pooler',
    ]);
    expect(released).toEqual([
      [1, true],
      [2, true],
    ]);
    expect(warnings).toEqual([{ listens: false }]);
  });

  it('is found at the second time too, as another may have had the connection', async () => {
    const { check, released } = scriptedPool((client) => (client <= 2 ? client : 7));
    expect(await check()).toBe(true);
    expect(released).toHaveLength(4);
  });

  it('ends the start where it loses statements that are prepared', async () => {
    let probes = 0;
    const loses = (_: number, statement: string) =>
      statement === 'kiln.pooler' && (probes += 1) === 2 ? unknown : 7;
    await expect(scriptedPool(loses).check()).rejects.toMatchObject({
      code: 'NOT_CONFIGURED',
      message: expect.stringContaining('DATABASE_PREPARE=off'),
    });
    probes = 0;
    expect(await scriptedPool(loses).check({ prepares: false })).toBe(true);
  });

  it.each([
    new Error('the server is gone'),
    Object.assign(new DatabaseError('no', 1, 'error'), { code: '42601' }),
  ])('is not told from other failures: %s', async (failure) => {
    let probes = 0;
    const { check, released } = scriptedPool((_, statement) =>
      statement === 'kiln.pooler' && (probes += 1) === 2 ? failure : 7,
    );
    await expect(check()).rejects.toBe(failure);
    expect(released).toHaveLength(2);
  });

  it('releases the first connection where there is no second', async () => {
    const { check, released } = scriptedPool(() => 7, 1);
    await expect(check()).rejects.toThrow('no connection');
    expect(released).toEqual([[1, undefined]]);
  });

  it('that refuses a parameter is said how to take it', async () => {
    const refused = new Error('unsupported startup parameter: statement_timeout');
    await expect(scriptedPool(() => refused).check()).rejects.toMatchObject({
      code: 'NOT_CONFIGURED',
      message: expect.stringMatching(
        /refuses the parameter statement_timeout: add ignore_startup_parameters/,
      ),
      cause: refused,
    });
  });
});

describe.skipIf(!hasPgbouncer)('PgBouncer in transaction mode', () => {
  it('that refuses our parameters ends the start with the remedy', async () => {
    const database = through(await startPgbouncer({}));
    const check = () => checkPooler({ database, prepares: true, listens: true, logger });
    await expect(onceThere(check, { logger })).rejects.toMatchObject({
      code: 'NOT_CONFIGURED',
      message: expect.stringMatching(/ignore_startup_parameters = statement_timeout,idle_in_transaction/),
    });
  });

  it('that loses prepared statements ends the start with the remedy, and works without them', async () => {
    // From 1.21 on it keeps them unless it is told not to; older ones do not know the setting.
    const server = await startPgbouncer(IGNORED);
    const check = (prepares: boolean) =>
      checkPooler({ database: through(server, { prepares }), prepares, listens: true, logger });
    const kept = await check(true).then(
      () => true,
      ({ code, message }: { code: string; message: string }) => [
        code,
        message.includes('DATABASE_PREPARE=off'),
      ],
    );
    expect([true, ['NOT_CONFIGURED', true]]).toContainEqual(kept);
    expect(await check(false)).toBe(true);
    const marked = `/* prepared: test.one */ select 1 as one`;
    const { pool } = through(server, { prepares: false });
    const all = await Promise.all(Array.from({ length: 40 }, () => pool.query<{ one: number }>(marked)));
    expect(all.every(({ rows }) => rows[0]?.one === 1)).toBe(true);
  });

  it('migrates nothing, and keeps locks with who has them', async () => {
    const server = await startPgbouncer(IGNORED);
    const [one, other] = [through(server, { prepares: false }), through(server, { prepares: false })];
    const sets = [{ schema: 'test', migrations: { '001-one': { up: async () => undefined } } }];
    await expect(migrate({ database: one, sets, logger, isPooled: true })).rejects.toMatchObject({
      code: 'NOT_CONFIGURED',
      message: expect.stringMatching(/npm run migrate/),
    });
    const begun = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const held = withAdvisoryLock(one.typed(), 'test.pooled', async () => {
      begun.resolve();
      await end.promise;
    });
    await begun.promise;
    expect(await withAdvisoryLock(other.typed(), 'test.pooled', async () => undefined)).toBe(false);
    end.resolve();
    expect(await held).toBe(true);
    for (let round = 0; round < 10; round += 1)
      expect(await withAdvisoryLock(other.typed(), 'test.pooled', async () => undefined)).toBe(true);
  });
});
