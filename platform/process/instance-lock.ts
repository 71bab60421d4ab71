import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { AppError, toError } from '../errors.ts';

/**
 * A lock that allows one process per directory and ends with its process. Node has no flock; SQLite has: an exclusive
 * transaction holds the operating system's lock on the file. So a kill -9 releases it, no stale file blocks a start,
 * process ids may be reused, and two containers that share a volume see each other. The file stays empty; a note beside
 * it names the holder, for messages only.
 */
export interface InstanceLockOptions {
  /** The locked directory; created when missing. */
  readonly dataDir: string;
  /** Name of the lock and its file: letters, digits and dashes. */
  readonly name: string;
}

/** Releases the lock, as the end of the process does. */
export type ReleaseInstanceLock = () => void;

/** Acquires the lock, or throws CONFLICT at once with the directory and the process that holds it. */
export function acquireInstanceLock(options: InstanceLockOptions): ReleaseInstanceLock {
  const release = tryInstanceLock(options);
  if (release) return release;
  const holder = readHolder(options);
  throw new AppError(
    'CONFLICT',
    `${options.dataDir} is in use by another running Kiln (process ${holder ?? 'unknown'}): stop that one, or give this one a DATA_DIR of its own`,
  );
}

/** As `acquireInstanceLock`; undefined when another process has it. */
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

/** The process that holds the lock, by its note; undefined when unknown. For messages only. */
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

/** SQLITE_BUSY (5): another process holds the lock. */
function isBusy(thrown: unknown): boolean {
  return thrown instanceof Error && 'errcode' in thrown && thrown.errcode === 5;
}
