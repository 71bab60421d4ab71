import { readdirSync, readFileSync } from 'node:fs';

import { identityOf, signal } from './process-table.ts';

/** The variable by which a process, and all that it starts, is bound to its owner: it ends when the owner has. */
export const OWNER = 'KILN_TEST_OWNER';

/** From here on, what this process starts ends with it (reaper.ts), however it ends. */
export function ownWhatStarts(): void {
  const identity = identityOf(process.pid);
  if (identity !== undefined) process.env[OWNER] = identity;
}

/** Kills the processes whose owner has ended; answers how many processes are owned still. */
export function killOrphans(): number {
  const owned = readdirSync('/proc').flatMap((name) => {
    const owner = /^\d+$/.test(name) ? ownerOf(name) : undefined;
    return owner === undefined ? [] : [{ pid: Number(name), owner }];
  });
  for (const { pid, owner } of owned) {
    if (identityOf(Number(owner.split(':', 1)[0])) !== owner) signal(pid, 'SIGKILL');
  }
  return owned.length;
}

function ownerOf(pid: string): string | undefined {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    return variables.find((variable) => variable.startsWith(`${OWNER}=`))?.slice(OWNER.length + 1);
  } catch {
    // It has ended, or is another user's.
    return undefined;
  }
}
