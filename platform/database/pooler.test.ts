import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { testDatabase, type TestDatabase } from '../../test/kit/database/postgres.ts';
import { isOnPath, startServerOnPath, type ServerOnPath } from '../../test/kit/processes/server-on-path.ts';
import { silentLogger } from '../process/logger.ts';
import { withAdvisoryLock } from './advisory-lock.ts';
import { createDatabase, type Database } from './database.ts';
import { migrate } from './migrations.ts';
import { onceThere } from './once-there.ts';
import { checkPooler } from './pooler.ts';

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
function nameOf(uid: number): string {
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
    return process.getuid?.() === 0 ? ['-u', nameOf(uid), file] : [file];
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
