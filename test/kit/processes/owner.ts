import { readdirSync, readFileSync } from 'node:fs';

import { readIdentity, signal } from './process-table.ts';

/** The variable by which a process, and all that it starts, is bound to its owner: it ends when the owner has. */
export const OWNER = 'KILN_TEST_OWNER';

/** The variable by which all processes of one test run know it: several runs at once leave each other's alone. */
export const RUN = 'KILN_TEST_RUN';

/** From here on, what this process starts ends with it (reaper.ts), however it ends. */
export function ownWhatStarts(): void {
  const identity = readIdentity(process.pid);
  if (identity !== undefined) process.env[OWNER] = identity;
}

/** Kills the processes of a run whose owner has ended; answers how many of the run's processes are owned still. */
export function killOrphans(run: string): number {
  const owned = readdirSync('/proc').flatMap((name) => {
    const owner = /^\d+$/.test(name) ? ownerIn(name, run) : undefined;
    return owner === undefined ? [] : [{ pid: Number(name), owner }];
  });
  for (const { pid, owner } of owned) {
    if (readIdentity(Number(owner.split(':', 1)[0])) !== owner) signal(pid, 'SIGKILL');
  }
  return owned.length;
}

function ownerIn(pid: string, run: string): string | undefined {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    if (!variables.includes(`${RUN}=${run}`)) return undefined;
    return variables.find((variable) => variable.startsWith(`${OWNER}=`))?.slice(OWNER.length + 1);
  } catch {
    // It has ended, or is another user's.
    return undefined;
  }
}
