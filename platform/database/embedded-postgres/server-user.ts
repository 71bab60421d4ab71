import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';

/** PostgreSQL refuses to run as root, so a Kiln that runs as root gives it to another user. */

/** The user and group that PostgreSQL runs as. */
export interface RunAs {
  readonly uid: number;
  readonly gid: number;
}

/** Linux's "nobody": exists everywhere, owns nothing. */
const NOBODY: RunAs = { uid: 65_534, gid: 65_534 };

/**
 * Who must run the server over this data directory. Undefined: ourselves, as we are not root. Root keeps the owner of
 * existing data (a Kiln started once with sudo still serves what its user made) and otherwise takes nobody.
 */
export function serverUser(dataDirectory: string): RunAs | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const existing = statSync(dataDirectory, { throwIfNoEntry: false });
  return existing && existing.uid !== 0 ? { uid: existing.uid, gid: existing.gid } : NOBODY;
}

/** Whether that user can enter or run this path: asked of the kernel, not computed from modes. */
export function canReach(path: string, runAs: RunAs | undefined): boolean {
  if (!runAs) return true;
  return spawnSync('/bin/sh', ['-c', 'test -x "$0"', path], { ...runAs, cwd: '/', env: {} }).status === 0;
}

/**
 * How the server is told its data directory. A directory below one that is closed to its user (a checkout in /root)
 * cannot be named to it, but it can be handed to it: a process needs no permission on the folders above its working
 * directory, and /proc/self/cwd is that directory by an absolute name. PostgreSQL works with paths relative to it anyway.
 */
export function dataDirectoryArgument(dataDirectory: string, runAs: RunAs | undefined): string {
  return canReach(dataDirectory, runAs) ? dataDirectory : '/proc/self/cwd';
}
