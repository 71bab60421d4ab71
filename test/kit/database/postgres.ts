import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { Pool, type PoolClient, type PoolConfig } from 'pg';

import { OWNER } from '../processes/owner.ts';

/**
 * Fresh databases for tests, on one real PostgreSQL per test run. The first test that asks starts the server in a
 * process of its own (postgres-server.ts), which ends, and removes its files, when the run's main process does.
 */
export interface TestDatabase {
  /** For pg.Pool, or `createDatabase({ config })`. */
  readonly config: PoolConfig & { readonly database: string };
  /** The same as an address, for processes that are told by DATABASE_URL. */
  readonly connectionString: string;
  /** Removes the database, ending connections that are still open. */
  drop(): Promise<void>;
}

export interface TestDatabaseOptions {
  /**
   * Copies a prepared database (milliseconds) in place of starting from an empty one: prepared once per run and name.
   */
  readonly template?: { readonly name: string; readonly prepare: (config: PoolConfig) => Promise<void> };
}

/** An empty database (or a copy of the template) of the caller's own. */
export async function testDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const server = await testServer();
  const template = options.template && (await ensureTemplate(server, options.template));
  const database = `test_${randomBytes(6).toString('hex')}`;
  await withAdmin(server, (admin) =>
    // Half of what a copy by way of the log costs.
    admin.query(`create database ${database}${template ? ` template ${template} strategy file_copy` : ''}`),
  );
  return {
    config: { ...server, database },
    connectionString: `postgresql://${server.user}@/${database}?host=${encodeURIComponent(server.host)}&port=${server.port}`,
    drop: async () => {
      await withAdmin(server, (admin) => admin.query(`drop database if exists ${database} with (force)`));
    },
  };
}

interface ServerAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
}

/** The vitest main process: our parent when we are one of its forked workers, else ourselves. */
function runProcess(): number {
  return process.send ? process.ppid : process.pid;
}

/** Where the server of this run keeps its files; also the name by which processes of the run find each other. */
function runFolder(): string {
  const pid = runProcess();
  return join(runParent(), `kiln-test-${pid}-${readStart(pid)}`);
}

/** Bytes from which on a folder in memory is large enough for all databases of a run. */
const LARGE_ENOUGH = 4e9;

/** In memory where there is room: every test makes, and removes, a database of some hundred files. TEST_DATABASE_FOLDER: elsewhere. */
function runParent(): string {
  const { TEST_DATABASE_FOLDER: folder } = process.env;
  if (folder !== undefined) return folder;
  if (process.platform !== 'linux') return tmpdir();
  try {
    const { bsize, blocks } = statfsSync('/dev/shm');
    return bsize * blocks < LARGE_ENOUGH ? tmpdir() : '/dev/shm';
  } catch {
    // There is none.
    return tmpdir();
  }
}

/** When a process began, in ticks since the machine did: with its id, a name that is never used twice. */
function readStart(pid: number): string {
  if (process.platform !== 'linux') return '0';
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The fields follow the program's name in brackets, which may itself hold blanks; the start is the 22nd of all.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '0';
}

/** Starts the run's server unless it is there. Any number may ask at once: the server's own lock lets one through. */
async function testServer(): Promise<ServerAddress> {
  const folder = runFolder();
  const known = readAddress(folder);
  if (known) return known;
  const program = fileURLToPath(new URL('postgres-server.ts', import.meta.url));
  // It stays for the files after this one, and ends with the run by itself.
  const { [OWNER]: _, ...env } = process.env;
  spawn(process.execPath, [program, folder, String(runProcess())], {
    detached: true,
    stdio: 'ignore',
    env,
  }).unref();
  const deadline = Date.now() + 150_000;
  while (Date.now() < deadline) {
    const address = readAddress(folder);
    if (address) return address;
    await pause(20);
  }
  throw new Error(`the test database server did not start: see ${join(folder, 'server.log')}`);
}

function readAddress(folder: string): ServerAddress | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, 'address.json'), 'utf8')) as ServerAddress;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw thrown;
  }
}

async function ensureTemplate(
  server: ServerAddress,
  { name, prepare }: NonNullable<TestDatabaseOptions['template']>,
): Promise<string> {
  const database = `template_${name}`;
  await withAdmin(server, async (admin) => {
    if (await exists(admin, database)) return;
    // Whoever comes second waits here until the template is whole.
    await admin.query(`select pg_advisory_lock(hashtext($1))`, [database]);
    if (!(await exists(admin, database))) {
      const half = `${database}_half`;
      await admin.query(`drop database if exists ${half} with (force)`);
      await admin.query(`create database ${half}`);
      await prepare({ ...server, database: half });
      await admin.query(`alter database ${half} rename to ${database}`);
    }
    await admin.query(`select pg_advisory_unlock(hashtext($1))`, [database]);
  });
  return database;
}

async function exists(admin: PoolClient, database: string): Promise<boolean> {
  const { rowCount } = await admin.query('select from pg_database where datname = $1', [database]);
  return Boolean(rowCount);
}

/** One for all files that a process tests: each connection reads the catalog anew. It keeps no process alive. */
let admins: Pool | undefined;

function adminPool(server: ServerAddress): Pool {
  if (admins !== undefined) return admins;
  admins = new Pool({
    ...server,
    database: 'postgres',
    max: 4,
    idleTimeoutMillis: 60_000,
    allowExitOnIdle: true,
  });
  // The server ends with the run, and with it what is idle.
  admins.on('error', () => undefined);
  return admins;
}

async function withAdmin<Result>(
  server: ServerAddress,
  use: (admin: PoolClient) => Promise<Result>,
): Promise<Result> {
  const admin = await adminPool(server).connect();
  try {
    const result = await use(admin);
    admin.release();
    return result;
  } catch (thrown) {
    // What it holds (the lock of a template) ends with it.
    admin.release(true);
    throw thrown;
  }
}
