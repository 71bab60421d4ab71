import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

import { socketFolder } from '../../../platform/database/embedded-postgres/cluster.ts';
import { CATALOG_DATE } from '../catalog-date.ts';
import { until } from '../clients/requests.ts';
import { inherited } from './inherited.ts';
import { expectSilentOutput } from './log-watch.ts';
import { type FoundProcess, isAlive, listProcesses, signal } from './process-table.ts';

/** A Kiln (or one role of it) as a process of its own, in its own process group, to be killed, paused and restarted. */
export interface KilnProcess {
  readonly pid: number;
  readonly dataDir: string;
  /** The address it serves, once it does; rejects with what it said when it ends instead. Empty for a worker. */
  readonly ready: Promise<string>;
  /** Resolves when the process that was spawned has ended. */
  readonly exited: Promise<KilnExit>;
  /** Everything it has written so far, both streams. */
  output(): string;
  /** Every process that belongs to it now: its own, those below it, those of its data directory. */
  processes(): readonly FoundProcess[];
  /** A signal to it alone. */
  signal(name: NodeJS.Signals): void;
  /** A signal to its process group, as a terminal sends Ctrl-C. */
  signalGroup(name: NodeJS.Signals): void;
  /** kill -9 of every process that belongs to it, the database server included; resolves when none is left. */
  killEverything(): Promise<void>;
  /** Ends it in order, or by force when it does not; resolves when none of its processes is left. */
  stop(): Promise<void>;
}

interface KilnExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface KilnProcessOptions {
  readonly dataDir: string;
  /** Settings beyond the defaults of tests (a free port, rate limits off). */
  readonly settings?: Readonly<Record<string, string>>;
  readonly role?: 'all' | 'worker';
  /** `npm` runs `npm start` (default: node itself). */
  readonly by?: 'node' | 'npm';
  /** The user it runs as (default: whoever runs the tests). */
  readonly user?: { readonly uid: number; readonly gid: number };
}

const root = path.resolve(import.meta.dirname, '../../..');
/** How each role says that it works. */
const READY = { all: 'Kiln serves', worker: 'the worker is ready' } as const;
/** Most characters kept of what it writes. */
const KEPT_OUTPUT = 2_000_000;

const KEY = 'key-of-the-tests';
/** Headers of a service key that every Kiln of these tests knows: its tasks can be listed. */
export const serviceKey: Readonly<Record<string, string>> = { authorization: `Bearer ${KEY}` };

/** A new data directory below the system's temporary folder; `remove` also removes what its database left elsewhere. */
export async function temporaryDataDir(): Promise<{
  readonly dataDir: string;
  readonly remove: () => void;
}> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'kiln-process-'));
  // The database server's user must be able to enter.
  chmodSync(dataDir, 0o755);
  return {
    dataDir,
    remove() {
      const home = path.join(dataDir, 'postgres');
      if (existsSync(home)) rmSync(socketFolder(home, undefined), { recursive: true, force: true });
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Spawns it; await `ready` before talking to it. */
export function spawnKiln(options: KilnProcessOptions): KilnProcess {
  const { dataDir, role = 'all', by = 'node' } = options;
  const [program, ...words] =
    by === 'npm' ? ['npm', 'start'] : [process.execPath, path.join(root, 'gateway/main.ts')];
  const child = spawn(program ?? '', words, {
    cwd: root,
    env: makeEnvironment(options),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    ...options.user,
  });
  const { pid } = child;
  if (pid === undefined) throw new Error('the process could not be spawned');
  const written = collect(child);
  const exited = awaitExit(child);
  const ready = readiness(written, exited, READY[role]);
  // Whoever only waits for its end does not mind.
  ready.catch(() => undefined);
  const processes = () => listProcesses(pid, dataDir);
  return {
    pid,
    dataDir,
    ready,
    exited,
    output: () => written.text,
    processes,
    signal: (name) => signal(pid, name),
    signalGroup: (name) => signal(-pid, name),
    killEverything: () => killAll(processes),
    async stop() {
      signal(-pid, 'SIGCONT');
      signal(pid, 'SIGTERM');
      const patience = setTimeout(() => signal(pid, 'SIGKILL'), 40_000);
      await exited;
      clearTimeout(patience);
      await killAll(processes);
      expectSilentOutput(written.text);
    },
  };
}

/** Spawns it and waits until it serves; stops it when it does not. */
export async function startKilnProcess(
  options: KilnProcessOptions,
): Promise<KilnProcess & { readonly url: string }> {
  const kiln = spawnKiln(options);
  try {
    return { ...kiln, url: await kiln.ready };
  } catch (error) {
    await kiln.stop();
    throw error;
  }
}

/** Waits until none of these processes runs; fails with what still does. */
export async function untilGone(processes: readonly FoundProcess[], timeoutMs = 100_000): Promise<void> {
  await until(
    async () => processes.filter(isAlive),
    (rest) => rest.length === 0,
    timeoutMs,
  );
}

/** Nothing of the test's own environment but what a program needs to run at all. */
function makeEnvironment(options: KilnProcessOptions): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env;
  const own = { PATH, HOME, ...(TMPDIR === undefined ? {} : { TMPDIR }), ...inherited() };
  return { ...own, ...settingsOf(options) };
}

/** The settings that such a process has, for a Kiln inside the test's own. */
export function settingsOf({
  dataDir,
  settings,
  role = 'all',
}: KilnProcessOptions): Readonly<Record<string, string>> {
  return {
    PORT: '0',
    RATE_LIMIT: 'off',
    CONSOLE_BUILD: 'off',
    CATALOG_DATE,
    DATA_DIR: dataDir,
    ROLE: role,
    SERVICE_KEYS: `tests=${createHash('sha256').update(KEY).digest('hex')}`,
    ...settings,
  };
}

interface Written {
  text: string;
  /** Called with each new log line. */
  onLine: (line: Record<string, unknown>) => void;
}

function collect(child: ChildProcess): Written {
  const written: Written = { text: '', onLine: () => undefined };
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface({ input: stream }).on('line', (line) => {
      written.text = `${written.text}${line}\n`.slice(-KEPT_OUTPUT);
      if (!line.startsWith('{')) return;
      written.onLine(JSON.parse(line) as Record<string, unknown>);
    });
  }
  return written;
}

function awaitExit(child: ChildProcess): Promise<KilnExit> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    // When all that was written has been read as well.
    child.once('exit', (code, name) => {
      const exit = { code, signal: name };
      const late = setTimeout(() => resolve(exit), 2_000);
      child.once('close', () => {
        clearTimeout(late);
        resolve(exit);
      });
    });
  });
}

function readiness(written: Written, exited: Promise<KilnExit>, message: string): Promise<string> {
  return new Promise((resolve, reject) => {
    written.onLine = ({ msg, url }) => {
      if (msg === message) resolve(typeof url === 'string' ? url : '');
    };
    exited.then(
      ({ code }) => reject(new Error(`it ended with ${String(code)}:\n${written.text}`)),
      (error: unknown) => reject(error as Error),
    );
  });
}

async function killAll(processes: () => readonly FoundProcess[]): Promise<void> {
  const all = processes();
  // Stopped first, so that none can tell the others, or begin another, while they are killed one by one.
  for (const { pid } of all) signal(pid, 'SIGSTOP');
  for (const { pid } of all) signal(pid, 'SIGKILL');
  await untilGone(all);
  await until(
    async () => processes(),
    (rest) => rest.length === 0,
  );
}
