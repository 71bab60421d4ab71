import { spawnSync } from 'node:child_process';
import { readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { AppError } from '../../errors.ts';
import type { Logger } from '../../process/logger.ts';

/** Handles what an earlier server of the same data directory may have left: a pid file, or itself. */

/**
 * Ends a server that outlived its owner and removes a stale pid file. Call it only while holding the owner's lock: then
 * a running server has no owner and is about to end.
 */
export async function clearStaleServer(directory: string, logger: Logger): Promise<void> {
  const pid = readPid(directory);
  if (pid === undefined) return;
  if (isServing(pid, directory)) {
    logger.info({ pid }, 'waiting for the earlier database server to end');
    await endServer(pid, directory);
  }
  // A zombie, or a process id that is used again, would keep PostgreSQL from starting.
  rmSync(join(directory, 'postmaster.pid'), { force: true });
}

/**
 * Ends the server of this directory if it runs: fast shutdown (SIGINT), then immediate shutdown (SIGQUIT; the next
 * start recovers from the log).
 */
export async function endServer(pid: number, directory: string): Promise<void> {
  for (const [signal, milliseconds] of [
    ['SIGINT', 15_000],
    ['SIGQUIT', 5000],
  ] as const) {
    if (!isServing(pid, directory)) return;
    signalProcess(pid, signal);
    const deadline = Date.now() + milliseconds;
    while (Date.now() < deadline) {
      if (!isServing(pid, directory)) return;
      await pause(20);
    }
  }
  throw new AppError('UNAVAILABLE', `the earlier database server (process ${pid}) does not end`);
}

/** The process id in postmaster.pid, or undefined when there is no server. */
export function readPid(directory: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(directory, 'postmaster.pid'), 'utf8').split('\n', 1)[0]);
    return Number.isSafeInteger(pid) && pid > 1 ? pid : undefined;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw thrown;
  }
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ESRCH') throw thrown;
  }
}

/** Whether this process serves this directory: process ids are reused, and signals must not reach another program. */
function isServing(pid: number, directory: string): boolean {
  if (process.platform !== 'linux') {
    const listed = spawnSync('ps', ['-p', String(pid), '-o', 'command='], { encoding: 'utf8' });
    return listed.stdout.includes(directory);
  }
  try {
    // A server's working directory is its data directory; a zombie has none.
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(directory);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES') return false;
    throw thrown;
  }
}
