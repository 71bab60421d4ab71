import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { AppError } from '../../errors.ts';
import { canReach, dataDirectoryArgument, type RunAs } from './server-user.ts';

/** The directories of an embedded server: its data, and the folder of its socket. */

/** The only database role of the embedded server; only its user can open the socket's folder. */
export const ROLE = 'kiln';

export interface ClusterOptions {
  /** Directory with PostgreSQL's programs. */
  readonly bin: string;
  /** The data directory. */
  readonly directory: string;
  readonly runAs: RunAs | undefined;
  /** Skips syncing to disk; for tests only. */
  readonly skipSync: boolean;
}

/** Creates the data directory unless it exists, under another name first, so that a kill leaves no partial one. */
export async function ensureCluster({ bin, directory, runAs, skipSync }: ClusterOptions): Promise<void> {
  if (existsSync(directory)) return;
  const half = `${directory}.half`;
  rmSync(half, { recursive: true, force: true });
  mkdirSync(half, { mode: 0o700 });
  if (runAs) chownSync(half, runAs.uid, runAs.gid);
  const options = [
    '--auth=trust',
    '--no-locale',
    '--encoding=UTF8',
    '--no-instructions',
    ...(skipSync ? ['--no-sync'] : []),
  ];
  const program = spawn(
    join(bin, 'initdb'),
    ['-D', dataDirectoryArgument(half, runAs), '-U', ROLE, ...options],
    {
      ...runAs,
      cwd: half,
      env: { LC_ALL: 'C' },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let output = '';
  program.stderr.on('data', (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-2000);
  });
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  program.once('error', reject);
  program.once('close', resolve);
  const code = await promise;
  if (code !== 0) {
    throw new AppError(
      'UNAVAILABLE',
      `cannot make the embedded database (initdb ended with ${String(code)}; with DATABASE_URL none is needed): ${output.trim()}`,
    );
  }
  renameSync(half, directory);
}

/**
 * The folder for the server's Unix socket. Its path must be short (107 characters with the socket's name), so it is in
 * the system's temporary folder, one per data directory, and accessible to the server's user only.
 */
export function socketFolder(directory: string, runAs: RunAs | undefined): string {
  const hash = createHash('sha256').update(realpathSync(directory)).digest('hex').slice(0, 12);
  const name = `kiln-postgres-${hash}`;
  const fits = join(tmpdir(), name, '.s.PGSQL.5432.lock').length < 100 && canReach(tmpdir(), runAs);
  return join(fits ? tmpdir() : '/tmp', name);
}

/**
 * Creates that folder; refuses one that somebody else owns. Call it while no server of this data directory runs: a
 * socket in it is stale, and its lock file would keep PostgreSQL from starting while another process has the same
 * process id.
 */
export function ensureSocketFolder(folder: string, runAs: RunAs | undefined): void {
  const owner = runAs?.uid ?? process.getuid?.();
  if (!lstatSync(folder, { throwIfNoEntry: false })) {
    mkdirSync(folder, { mode: 0o700 });
    if (runAs) chownSync(folder, runAs.uid, runAs.gid);
  }
  const found = lstatSync(folder);
  if (!found.isDirectory() || found.uid !== owner) {
    throw new AppError(
      'UNAVAILABLE',
      `${folder} belongs to somebody else: remove it, or set TMPDIR to another directory`,
    );
  }
  chmodSync(folder, 0o700);
  for (const name of ['.s.PGSQL.5432', '.s.PGSQL.5432.lock']) rmSync(join(folder, name), { force: true });
}

/** Removes the folder after the server has left it. */
export function removeSocketFolder(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    // Gone already, or used by something else.
    if (code !== 'ENOENT' && code !== 'ENOTEMPTY') throw thrown;
  }
}
