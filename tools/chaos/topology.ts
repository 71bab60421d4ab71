import { readFileSync } from 'node:fs';
import path from 'node:path';

import { type LossyRelay, startLossyRelay } from '../../test/kit/database/lossy-relay.ts';
import { startS3Server } from '../../test/kit/object-store/s3-server.ts';
import { startSandboxProcess, type SandboxProcess } from '../../test/kit/processes/sandbox-process.ts';
import { isOnPath, startServerOnPath, type ServerOnPath } from '../../test/kit/processes/server-on-path.ts';
import { isReady, temporaryFolder } from '../../test/topology/places.ts';
import { startNode, type Program } from '../../test/topology/processes.ts';
import { startChaosDatabase, type ChaosDatabase } from './database.ts';
import { mountDisk, type Disk } from './disk.ts';
import { createLayout, type Shape } from './shapes.ts';

/** Kiln in one of its shapes over one database, one store of files and one sandbox. */
export interface Topology {
  /** Those that callers are sent to; a shape that is scaled has more of them for a while. */
  readonly gateways: readonly [string, string, ...string[]];
  /** The names of its parts. */
  readonly parts: readonly string[];
  readonly database: ChaosDatabase;
  /** By which the parts of RELAYED reach the database. */
  readonly relay: LossyRelay;
  readonly sandbox: SandboxProcess;
  /** The folder of files, on a small disk of its own; null where that may not be mounted. */
  readonly disk: Disk | null;
  /** What carries wake-ups; null where PostgreSQL does, because no nats-server is installed or none is wanted. */
  readonly nats: ServerOnPath | null;
  signal(name: string, signal: NodeJS.Signals): void;
  /** Kills one of the processes that a part has started (Linux). */
  killChild(name: string): void;
  end(name: string, signal: NodeJS.Signals): Promise<void>;
  /** Starts a part, of another version's checkout if one is named; of that which it was started with else. */
  start(name: string, checkout?: string): Promise<void>;
  /** The running parts of a role, and those that may be started besides. */
  listRunning(role: string): readonly string[];
  listSpares(role: string): readonly string[];
  /** Ends a part as planned: callers are sent elsewhere before. */
  retire(name: string): Promise<void>;
  findPid(name: string): number;
  /** What a part says of itself at METRICS_PORT. */
  readMetrics(name: string): Promise<string>;
  /** What each part has printed, over all its starts. */
  outputs(): ReadonlyMap<string, string>;
  /** How many starts ended before the part was ready, because something else was broken, and were made again. */
  startedAgain(): number;
  /** Parts that ended without having been told to. */
  crashed(): readonly string[];
  close(): Promise<void>;
}

export interface TopologyOptions {
  /** What it is made of (default: split). */
  readonly shape?: Shape;
  /** A checkout of another version; this one when absent. */
  readonly checkout?: string;
  /** Whether NATS carries wake-ups, where a nats-server is installed. */
  readonly isOnNats?: boolean;
  /** More settings of all parts. */
  readonly settings?: (sandbox: SandboxProcess) => Promise<Readonly<Record<string, string>>>;
}

/** How long a part that ends before it is ready is started again. */
const SUPERVISED_MS = 30_000;

/** Starts all of it. */
export async function startTopology({
  shape = 'split',
  checkout,
  isOnNats = false,
  settings: more = async () => ({}),
}: TopologyOptions = {}): Promise<Topology> {
  const folder = await temporaryFolder();
  const { parts, gateways: first, needsBucket, settings: shared } = await createLayout(shape, folder.path);
  const gateways: [string, string, ...string[]] = [...first];
  const files = path.join(folder.path, 'files');
  const disk = needsBucket ? null : mountDisk(files);
  const bucket = needsBucket ? await startS3Server() : null;
  const [database, sandbox, nats] = await Promise.all([
    startChaosDatabase(path.join(folder.path, 'database')),
    startSandboxProcess(path.join(folder.path, 'sandbox'), { kilnUrl: first[0], log: 'silent' }),
    isOnNats && isOnPath('nats-server')
      ? startServerOnPath('nats-server', (port) => ['-a', '127.0.0.1', '-p', port])
      : null,
  ]);
  const relay = await startLossyRelay(database);
  const settings = {
    DATABASE_URL: database.connectionString,
    SANDBOX_URL: sandbox.url,
    DATA_DIR: files,
    PUBLIC_URL: first[0],
    ...shared,
    ...bucket?.settings,
    INTERNAL_KEY: 'only-for-tests-0123456789abcdef0123456789',
    RATE_LIMIT: 'off',
    ...(nats === null ? {} : { EVENTS_URL: `nats://127.0.0.1:${nats.port}` }),
    ...(await more(sandbox)),
  };
  const running = new Map<string, Program>();
  const ended = new Map<string, string>();
  const joinOutput = (name: string) => (ended.get(name) ?? '') + (running.get(name)?.output() ?? '');
  const checkouts = new Map<string, string | undefined>();
  const crashes: string[] = [];
  let again = 0;
  const crashed = () => [...crashes, ...[...running].flatMap(([name, it]) => (it.isOver() ? [name] : []))];
  const start = async (name: string, from = checkouts.get(name)): Promise<void> => {
    checkouts.set(name, from);
    const part = parts[name];
    if (part === undefined) throw new Error(`no part ${name}`);
    const { script, role, url } = part;
    const own = {
      ...settings,
      ...(part.isRelayed && { DATABASE_URL: relay.url }),
      ...(url !== null && { PORT: new URL(url).port }),
      ...part.settings,
    };
    const ready = async (printed: string) =>
      url === null ? printed.includes('the worker is ready') : isReady(url);
    const launch = () => startNode(script, ['--role', role], { settings: own, ready, checkout: from });
    // What it needs may go away while it starts: a supervisor starts it again.
    const until = Date.now() + SUPERVISED_MS;
    while (!running.has(name)) {
      await launch().then(
        (program) => running.set(name, program),
        (thrown: unknown) => {
          again += 1;
          if (Date.now() > until) throw thrown;
        },
      );
    }
    if (role === 'gateway' && url !== null && !gateways.includes(url)) gateways.push(url);
  };
  const end = async (name: string, signal: NodeJS.Signals): Promise<void> => {
    const program = running.get(name);
    if (program?.isOver()) crashes.push(name);
    await program?.end(signal);
    ended.set(name, joinOutput(name));
    running.delete(name);
  };
  const listNames = (role: string) => Object.keys(parts).filter((name) => parts[name]?.role === role);
  for (const [name, { isSpare }] of Object.entries(parts)) if (isSpare !== true) await start(name, checkout);
  return {
    gateways,
    listRunning: (role) => listNames(role).filter((name) => running.has(name)),
    listSpares: (role) => listNames(role).filter((name) => !running.has(name)),
    findPid: (name) => running.get(name)?.pid ?? 0,
    async readMetrics(name) {
      const port = parts[name]?.settings['METRICS_PORT'] ?? '';
      return (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    },
    async retire(name) {
      const { url } = parts[name] ?? {};
      const at = gateways.indexOf(url ?? '');
      if (at !== -1) gateways.splice(at, 1);
      await end(name, 'SIGTERM');
    },
    parts: Object.keys(parts),
    database,
    relay,
    sandbox,
    disk,
    signal: (name, signal) => running.get(name)?.signal(signal),
    killChild(name) {
      const pid = running.get(name)?.pid ?? 0;
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
      process.kill(Number(children.at(-1)), 'SIGKILL');
    },
    end,
    start,
    nats,
    startedAgain: () => again,
    crashed,
    outputs: () => new Map(Object.keys(parts).map((name) => [name, joinOutput(name)])),
    async close() {
      await Promise.all([...running.values()].map((program) => program.end('SIGKILL')));
      relay.stop();
      await Promise.all([sandbox.stop(), database.stop(), nats?.stop(), bucket?.close()]);
      disk?.unmount();
      await folder.remove();
    },
  };
}
