import { readFileSync } from 'node:fs';
import path from 'node:path';

import type { BurstKiln } from '../burst/split.ts';
import { memoryMiB, processorMs } from '../processes.ts';
import { costPerRole, type Cost, type Role } from './costs.ts';

/** What the roles of a split Kiln use. */
export interface Watch {
  /** Milliseconds of processor time so far. */
  cost(): Cost;
  /** MiB of resident memory; PostgreSQL's is left out. */
  memory(role: Exclude<Role, 'PostgreSQL'>): number;
}

/** Watches its processes. `writers` write entries as a worker does, and count as part of it. */
export function watch(kiln: BurstKiln, writers: readonly number[]): Watch {
  const postmaster = Number(
    readFileSync(path.join(kiln.folder, 'database/postgres/data/postmaster.pid'), 'utf8').split('\n')[0],
  );
  const pids: Readonly<Record<Exclude<Role, 'PostgreSQL'>, readonly number[]>> = {
    gateway: [kiln.gateway.pid],
    media: [kiln.media.pid],
    workflow: [kiln.workflow.pid],
    worker: [kiln.worker.pid, ...writers],
  };
  const used = (all: readonly number[]): number => all.reduce((sum, pid) => sum + (processorMs(pid) ?? 0), 0);
  return {
    cost: () => costPerRole((role) => (role === 'PostgreSQL' ? treeMs(postmaster) : used(pids[role]))),
    memory: (role) => memoryMiB(pids[role][0] ?? 0) ?? 0,
  };
}

/** Processor time of a server and its children, those that have ended among them. */
function treeMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  const own = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]) * 10, 0);
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  if (children === '') return own;
  return children.split(' ').reduce((sum, child) => {
    try {
      return sum + (processorMs(Number(child)) ?? 0);
    } catch {
      // It ended between the two looks; its server has its time.
      return sum;
    }
  }, own);
}
