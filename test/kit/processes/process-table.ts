import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The processes of this machine as tests need them (Linux: /proc), to be sure that none of a Kiln remains. */

/** One process, by an identity that is never used twice: its id and when it began. */
export interface FoundProcess {
  readonly pid: number;
  /** In ticks since the machine began. */
  readonly startedAt: string;
  readonly parent: number;
  readonly state: string;
  readonly command: string;
}

/** Every process that has not ended; one that nobody reaped yet has. */
function allProcesses(): readonly FoundProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)) ?? []);
}

/** What belongs to a Kiln: the process and all below it, and whatever names its data directory or works inside it. */
export function listProcesses(pid: number, dataDir: string): readonly FoundProcess[] {
  const all = allProcesses();
  const found = new Set([pid]);
  for (const { pid: id, command } of all) {
    if (command.includes(dataDir) || workingDirectory(id)?.startsWith(dataDir)) found.add(id);
  }
  // Parents may come after their children in the list: again until nothing is added.
  for (let size = 0; size !== found.size;) {
    size = found.size;
    for (const { pid: id, parent } of all) if (found.has(parent)) found.add(id);
  }
  return all.filter(({ pid: id }) => found.has(id) && id !== process.pid);
}

/** Whether this very process still runs. */
export function isAlive({ pid, startedAt }: FoundProcess): boolean {
  return readProcess(pid)?.startedAt === startedAt;
}

/** A process's id and when it began (`pid:ticks`); undefined when it has ended, or where there is no /proc. */
export function readIdentity(pid: number): string | undefined {
  const found = readProcess(pid);
  return found && `${pid}:${found.startedAt}`;
}

/** Sends a signal; a process that has ended meanwhile is no error. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ESRCH') throw thrown;
  }
}

function readProcess(pid: number): FoundProcess | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    // The fields follow the program's name in brackets, which may itself hold blanks.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state = '', parent = ''] = fields;
    if (state === 'Z' || state === 'X') return undefined;
    return { pid, startedAt: fields[19] ?? '', parent: Number(parent), state, command };
  } catch (thrown) {
    return gone(thrown);
  }
}

function workingDirectory(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch (thrown) {
    return gone(thrown);
  }
}

/** It ended while we looked, or is somebody else's. */
function gone(thrown: unknown): undefined {
  const { code } = thrown as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES') return undefined;
  throw thrown;
}
