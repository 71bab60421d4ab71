import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { pino } from 'pino';

import { startEmbeddedPostgres } from '../../../platform/database/embedded-postgres/embedded-postgres.ts';
import { tryInstanceLock } from '../../../platform/process/instance-lock.ts';
import { createLogger } from '../../../platform/process/logger.ts';

/**
 * The database server of one test run, as a program: `postgres-server.ts <folder> <pid of the run>`. Test workers come
 * and go with every file; this stays until the run's main process has ended, then removes the folder.
 */
async function main(folder: string, run: number): Promise<void> {
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o755);
  const release = tryInstanceLock({ dataDir: folder, name: 'server' });
  // Another worker's server was first.
  if (!release) return;
  sweepForgotten(dirname(folder), folder);
  const logger = createLogger({
    level: 'info',
    destination: pino.destination({ dest: join(folder, 'server.log'), sync: true }),
  });
  const server = await startEmbeddedPostgres({
    dataDir: folder,
    logger,
    maxConnections: 600,
    skipSync: true,
    systemCache: join(folder, 'cache'),
  });
  const { host, port, user } = server.config;
  const half = join(folder, 'address.half');
  writeFileSync(half, JSON.stringify({ host, port, user }));
  renameSync(half, join(folder, 'address.json'));
  while (isRunning(run)) await pause(250);
  await server.stop();
  if (host) rmSync(host, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
}

/** Files of runs whose server was killed before it could remove them. */
function sweepForgotten(parent: string, own: string): void {
  for (const name of readdirSync(parent)) {
    const pid = Number(/^kiln-test-(\d+)-\d+$/.exec(name)?.[1] ?? 0);
    const folder = join(parent, name);
    if (pid > 1 && folder !== own && !isRunning(pid)) rmSync(folder, { recursive: true, force: true });
  }
}

/** Whether a process runs; one that has ended and was not reaped does not. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'EPERM') return true;
    if (code === 'ESRCH' || code === 'ENOENT') return false;
    throw thrown;
  }
}

const [folder, run] = process.argv.slice(2);
if (folder && run) await main(folder, Number(run));
