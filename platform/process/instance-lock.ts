import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { AppError, toError } from '../errors.ts';

/**
 * "Only one process may do this in that directory", as a lock that dies with its process.
 *
 * Node has no flock; SQLite has one: an exclusive transaction holds the operating system's own lock on the file. So a
 * kill -9 releases it, no stale file can block a start, process ids may be reused, and two containers that share a
 * volume see each other. The file stays empty; a note beside it names the holder, for messages only.
 */
export interface InstanceLockOptions {
  /** Directory in which only one may be; made when missing. */
  readonly dataDir: string;
  /** What is locked; becomes the name of the file, so letters, digits and dashes. */
  readonly name: string;
}

/** Gives the lock back. Also happens by itself when the process ends. */
export type ReleaseInstanceLock = () => void;

/**
 * Takes the lock or throws at once: AppError CONFLICT, whose message names the directory and the process that holds it.
 */
export function acquireInstanceLock(options: InstanceLockOptions): ReleaseInstanceLock {
  const release = tryInstanceLock(options);
  if (release) return release;
  const holder = readHolder(options);
  throw new AppError(
    'CONFLICT',
    `${options.dataDir} is in use by another running Kiln (process ${holder ?? 'unknown'}): stop that one, or give this one a DATA_DIR of its own`,
  );
}

/** As `acquireInstanceLock`, answering undefined when somebody else has it. */
export function tryInstanceLock(options: InstanceLockOptions): ReleaseInstanceLock | undefined {
  mkdirSync(options.dataDir, { recursive: true });
  const database = new DatabaseSync(lockFile(options), { timeout: 0 });
  try {
    database.exec('begin exclusive');
  } catch (thrown) {
    database.close();
    if (isBusy(thrown)) return undefined;
    throw new AppError('UNAVAILABLE', `cannot lock ${options.dataDir}: ${toError(thrown).message}`, {
      cause: thrown,
    });
  }
  writeFileSync(holderFile(options), String(process.pid));
  let held = true;
  return () => {
    if (!held) return;
    held = false;
    database.close();
  };
}

/** The process that holds the lock, as it wrote it down; undefined when unknown. For messages, never for decisions. */
function readHolder(options: InstanceLockOptions): number | undefined {
  try {
    const pid = Number(readFileSync(holderFile(options), 'utf8'));
    return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw thrown;
  }
}

function lockFile({ dataDir, name }: InstanceLockOptions): string {
  return join(dataDir, `${name}.lock`);
}

function holderFile({ dataDir, name }: InstanceLockOptions): string {
  return join(dataDir, `${name}.lock.pid`);
}

/** SQLITE_BUSY (5): somebody else holds the lock. */
function isBusy(thrown: unknown): boolean {
  return thrown instanceof Error && 'errcode' in thrown && thrown.errcode === 5;
}
