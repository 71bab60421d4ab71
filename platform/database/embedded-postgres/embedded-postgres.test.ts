import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { Client, type PoolConfig } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';

import { extent, isWhole } from '../../../test/kit/extent.ts';
import { tryInstanceLock } from '../../process/instance-lock.ts';
import { silentLogger } from '../../process/logger.ts';
import { socketFolder } from './cluster.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts';

const WAIT = { timeout: 100_000, interval: 50 };
const logger = silentLogger();
let folder: string;
let dataDir: string;
const servers: EmbeddedPostgres[] = [];
const children: ChildProcess[] = [];

/** A data directory that has a cluster already: making one takes longer than everything else here. */
let template: string;
beforeAll(async () => {
  template = mkdtempSync(join(tmpdir(), 'kiln-embedded-template-'));
  chmodSync(template, 0o755);
  await (await startEmbeddedPostgres({ dataDir: template, logger, skipSync: true })).stop();
});
afterAll(() => rmSync(template, { recursive: true, force: true }));

/** Begins with a cluster in place of an empty directory. */
function copyCluster(): void {
  linkPrograms(join(dataDir, 'postgres'));
  // With its owner, whom the server runs as.
  execFileSync('cp', ['-a', join(template, 'postgres', 'data'), join(dataDir, 'postgres', 'data')]);
}

/** Has PostgreSQL's programs there already, where root needs a copy of them. */
function linkPrograms(folder: string): void {
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o755);
  for (const name of globSync('postgres-runtime-*', { cwd: join(template, 'postgres') })) {
    execFileSync('cp', ['-al', join(template, 'postgres', name), join(folder, name)]);
  }
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kiln-embedded-'));
  chmodSync(folder, 0o755);
  dataDir = join(folder, 'data-dir');
});
afterEach(async () => {
  for (const child of children.splice(0)) await end(child, 'SIGKILL');
  for (const server of servers.splice(0)) await server.stop();
  await vi.waitUntil(() => postmaster() === undefined, WAIT);
  const home = join(dataDir, 'postgres');
  if (existsSync(home)) rmSync(socketFolder(home, undefined), { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
});

async function start(options: { systemCache?: string } = {}): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({
    dataDir,
    logger,
    maxConnections: 20,
    skipSync: true,
    ...options,
  });
  servers.push(server);
  return server;
}

/** The same in a process of its own, which can be killed. */
async function startProcess(): Promise<{ child: ChildProcess; adopted: boolean; config: PoolConfig }> {
  const program = fileURLToPath(
    new URL('../../../test/kit/processes/embedded-postgres-process.ts', import.meta.url),
  );
  const child = spawn(process.execPath, [program, dataDir, join(folder, 'cache')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { child, ...(JSON.parse(line) as { adopted: boolean; config: PoolConfig }) };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}

async function query(config: PoolConfig, text: string): Promise<unknown[]> {
  const client = new Client(config);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(text)).rows as unknown[];
  } finally {
    await client.end();
  }
}

/** The process id of the running server of this test, if any. */
function postmaster(): number | undefined {
  const file = join(dataDir, 'postgres', 'data', 'postmaster.pid');
  if (!existsSync(file)) return undefined;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  return isRunning(pid) ? pid : undefined;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

test('starts an empty database although a start was killed half-way, stops it, and finds its rows again', async () => {
  linkPrograms(join(dataDir, 'postgres'));
  const half = join(dataDir, 'postgres', 'data.half');
  mkdirSync(half, { recursive: true });
  writeFileSync(join(half, 'PG_VERSION'), '18\n');
  const first = await start();
  expect(first.adopted).toBe(false);
  expect(existsSync(half)).toBe(false);
  // Reached through a socket that only its own user may open.
  expect(statSync(first.config.host ?? '').mode & 0o777).toBe(0o700);
  expect(await query(first.config, 'show listen_addresses')).toEqual([{ listen_addresses: '' }]);
  await query(first.config, 'create table kept as select 42 as number');
  await first.stop();
  expect(postmaster()).toBeUndefined();
  const second = await start();
  expect(await query(second.config, 'select number from kept')).toEqual([{ number: 42 }]);
});

test('serves a data directory below one that is closed to others', async () => {
  mkdirSync(dataDir, { mode: 0o700 });
  if (!isWhole) copyCluster();
  chmodSync(folder, 0o700);
  const systemCache = mkdtempSync(join(tmpdir(), 'kiln-cache-'));
  if (isWhole) chmodSync(systemCache, 0o755);
  else linkPrograms(systemCache);
  try {
    const { config } = await start({ systemCache });
    await query(config, 'create table written as select 1 as number; checkpoint');
    await servers.pop()?.stop();
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const again = await start({ systemCache });
    expect(await query(again.config, 'select number from written')).toEqual([{ number: 1 }]);
  } finally {
    rmSync(systemCache, { recursive: true });
  }
});

test('several starts at the same moment: one owns the server, the others use it', async () => {
  // From nothing in `npm run test:all`, with one more of them.
  if (!isWhole) copyCluster();
  const processes = await Promise.all(Array.from({ length: extent(2, 3) }, () => startProcess()));
  expect(processes.filter(({ adopted }) => !adopted)).toHaveLength(1);
  for (const { config } of processes) expect(await query(config, 'select 1 as one')).toEqual([{ one: 1 }]);
  // Whoever only uses it leaves it running when it ends.
  for (const { child } of processes.filter(({ adopted }) => adopted)) await end(child, 'SIGTERM');
  expect(postmaster()).toBeDefined();
});

test('two starts within one process share the server', async () => {
  copyCluster();
  const [one, two] = await Promise.all([start(), start()]);
  expect([one.adopted, two.adopted].filter(Boolean)).toHaveLength(1);
});

test('is durable unless a test says otherwise, and ends with its owner, also when that is killed', async () => {
  copyCluster();
  const { child, config } = await startProcess();
  expect(await query(config, 'show fsync')).toEqual([{ fsync: 'on' }]);
  expect(await query(config, 'show synchronous_commit')).toEqual([{ synchronous_commit: 'on' }]);
  await query(config, 'create table kept (number int)');
  await query(config, 'insert into kept values (1)');
  const pid = postmaster();
  await end(child, 'SIGKILL');
  // The next start does not wait for anything but that end.
  const next = await start();
  expect(next.adopted).toBe(false);
  expect(postmaster()).not.toBe(pid);
  expect(await query(next.config, 'select number from kept')).toEqual([{ number: 1 }]);
});

// test/durability/kill.test.ts kills a whole Kiln.
test.runIf(isWhole)('starts again after everything was killed', async () => {
  copyCluster();
  const { child, config } = await startProcess();
  await query(config, 'create table kept as select 1 as number');
  const pid = postmaster();
  child.kill('SIGSTOP');
  if (pid) process.kill(pid, 'SIGKILL');
  await end(child, 'SIGKILL');
  const next = await start();
  expect(await query(next.config, 'select number from kept')).toEqual([{ number: 1 }]);
});

test('is not misled by what a killed server left when another program has its process id, and does not harm that', async () => {
  copyCluster();
  await (await start()).stop();
  servers.pop();
  const home = join(dataDir, 'postgres');
  // PostgreSQL only minds a process that its own user could signal.
  const { uid, gid } = statSync(join(home, 'data'));
  const stranger = spawn('sleep', ['600'], { uid, gid });
  children.push(stranger);
  writeFileSync(
    join(home, 'data', 'postmaster.pid'),
    `${stranger.pid}\n${realpathSync(join(home, 'data'))}\n0\n5432\n`,
  );
  const left = socketFolder(home, undefined);
  mkdirSync(left, { mode: 0o700 });
  chownSync(left, uid, gid);
  writeFileSync(join(left, '.s.PGSQL.5432.lock'), `${stranger.pid}\n${dataDir}\n0\n5432\n${left}\n\n`);
  writeFileSync(join(left, '.s.PGSQL.5432'), '');
  const { config } = await start();
  expect(await query(config, 'select 1 as one')).toEqual([{ one: 1 }]);
  expect(isRunning(stranger.pid ?? 0)).toBe(true);
});

test('says so when the server is lost', async () => {
  copyCluster();
  const { promise: lost, resolve } = Promise.withResolvers<Error>();
  servers.push(await startEmbeddedPostgres({ dataDir, logger, skipSync: true, onLost: resolve }));
  const pid = postmaster();
  if (pid) process.kill(pid, 'SIGKILL');
  expect((await lost).message).toContain('the embedded database ended');
});

test('refuses a socket folder that belongs to somebody else', async () => {
  if (process.getuid?.() !== 0) return;
  copyCluster();
  const taken = socketFolder(join(dataDir, 'postgres'), undefined);
  mkdirSync(taken, { mode: 0o777 });
  await expect(start()).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('belongs to'),
  });
});

test('gives up when another process owns the directory and serves nothing', async () => {
  copyCluster();
  const home = join(dataDir, 'postgres');
  const release = tryInstanceLock({ dataDir: home, name: 'owner' });
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    const starting = start();
    vi.setSystemTime(Date.now() + 61_000);
    // Whoever did not give up at its first look gets the directory.
    setTimeout(() => release?.(), 1_000);
    await expect(starting).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: `another process owns the database in ${home}, but that database does not answer`,
    });
  } finally {
    vi.useRealTimers();
    release?.();
  }
});
