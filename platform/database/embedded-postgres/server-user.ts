import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';

/** Chooses the user that PostgreSQL runs as: it refuses to run as root. */

/** The user and group that PostgreSQL runs as. */
export interface RunAs {
  readonly uid: number;
  readonly gid: number;
}

/** Linux's "nobody", which exists everywhere and owns nothing. */
const NOBODY: RunAs = { uid: 65_534, gid: 65_534 };

/**
 * The user that must run the server over this data directory. Undefined: our own, as we are not root. Root keeps the
 * owner of existing data (a Kiln started once with sudo still serves its user's data) and otherwise takes nobody.
 */
export function serverUser(dataDirectory: string): RunAs | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const existing = statSync(dataDirectory, { throwIfNoEntry: false });
  return existing && existing.uid !== 0 ? { uid: existing.uid, gid: existing.gid } : NOBODY;
}

/** Whether that user can enter or run this path, as the kernel decides. */
export function canReach(path: string, runAs: RunAs | undefined): boolean {
  if (!runAs) return true;
  return spawnSync('/bin/sh', ['-c', 'test -x "$0"', path], { ...runAs, cwd: '/', env: {} }).status === 0;
}

/**
 * The server's argument for its data directory. A directory below one that is closed to its user (a checkout in /root)
 * can't be opened by path, but as the working directory: a process needs no permission on the folders above it, and
 * /proc/self/cwd is its absolute name. PostgreSQL uses paths relative to it anyway.
 */
export function dataDirectoryArgument(dataDirectory: string, runAs: RunAs | undefined): string {
  return canReach(dataDirectory, runAs) ? dataDirectory : '/proc/self/cwd';
}
