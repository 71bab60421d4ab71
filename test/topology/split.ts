import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { startGatewayAlone } from '../../gateway/composition/gateway-alone.ts';
import type { ProcessParts } from '../../platform/runtime/run-process.ts';
import { startMediaProcess } from '../../subgraphs/media/process.ts';
import { startWorkflowProcess } from '../../subgraphs/workflow/process.ts';
import { until } from '../kit/clients/requests.ts';
import { migratedDatabase } from '../kit/database/migrated.ts';
import { freePorts } from '../kit/processes/free-ports.ts';
import { startSandboxProcess, type SandboxProcess } from '../kit/processes/sandbox-process.ts';
import { startInside } from './inside.ts';
import { isReady, temporaryFolder } from './places.ts';
import { startNode, type Program } from './processes.ts';

/** A Kiln whose gateway, subgraphs and worker are apart, over one database and one folder of files. */
export interface SplitKiln {
  /** The gateway's origin: what callers know. */
  readonly url: string;
  readonly sandbox: SandboxProcess;
  /** The settings that all processes share. */
  readonly settings: Readonly<Record<string, string>>;
  readonly folder: string;
  /** Kills a part at once (kill -9), which needs a process of its own, or asks it to stop. */
  end(role: Role, signal: NodeJS.Signals): Promise<void>;
  /** Starts a part again. */
  start(role: Role): Promise<void>;
  /** Where a part answers /readyz. */
  findOrigin(role: Role): string;
  /** Everything that the running process of a part has printed. */
  output(role: Role): string;
  /** Kiln's supergraph with the subgraphs at the addresses they have here; answers the file. */
  writeSupergraph(): Promise<string>;
  close(): Promise<void>;
}

export type Role = 'gateway' | 'media' | 'workflow' | 'worker';

const scripts: Readonly<Record<Role, string>> = {
  gateway: 'gateway/main.ts',
  media: 'subgraphs/media/main.ts',
  workflow: 'subgraphs/workflow/main.ts',
  worker: 'subgraphs/media/main.ts',
};

const starts: Readonly<Record<Role, (parts: ProcessParts) => Promise<unknown>>> = {
  gateway: startGatewayAlone,
  media: startMediaProcess,
  workflow: startWorkflowProcess,
  worker: startMediaProcess,
};

/** The parts of a split Kiln. */
export interface SplitOptions {
  /** Those that there are (default: all). */
  readonly roles?: readonly Role[];
  /** Those that are processes of their own; the others run inside the test's, which costs a tenth (default: all). */
  readonly processes?: readonly Role[];
}

/** A part that runs. */
type Part = Pick<Program, 'output' | 'end'>;

/** Starts all of it, or some; `more` are settings of all its parts. */
export async function startSplitKiln(
  more: Readonly<Record<string, string>> = {},
  { roles = ['media', 'workflow', 'worker', 'gateway'], processes = roles }: SplitOptions = {},
): Promise<SplitKiln> {
  const folder = await temporaryFolder();
  const addresses = await freeAddresses();
  const { gateway: url, media, workflow } = addresses;
  const [database, sandbox] = await Promise.all([
    migratedDatabase(),
    startSandboxProcess(path.join(folder.path, 'sandbox'), {
      kilnUrl: url,
      // Of its own where all parts are: it outlives them.
      isInside: processes.length < roles.length,
    }),
  ]);
  const settings = {
    DATABASE_URL: database.connectionString,
    SANDBOX_URL: sandbox.url,
    DATA_DIR: folder.path,
    PUBLIC_URL: url,
    MEDIA_URL: `${media}/graphql`,
    WORKFLOW_URL: `${workflow}/graphql`,
    INTERNAL_KEY: 'only-for-tests-0123456789abcdef0123456789',
    RATE_LIMIT: 'off',
    ...more,
  };
  const parts = new Map<Role, Part>();
  async function start(role: Role): Promise<void> {
    const own = { ...settings, PORT: new URL(addresses[role]).port };
    parts.set(role, await startPart(role, { settings: own, isProcess: processes.includes(role) }));
  }
  const end = async (role: Role, signal: NodeJS.Signals): Promise<void> => parts.get(role)?.end(signal);
  // The workflow subgraph looks for media, the gateway for both: each is ready only once it finds them.
  for (const role of roles) await start(role);
  return {
    url,
    sandbox,
    settings,
    folder: folder.path,
    start,
    end,
    findOrigin: (role) => addresses[role],
    output: (role) => parts.get(role)?.output() ?? '',
    async writeSupergraph() {
      const sdl = await readFile(new URL('../../schema/supergraph.graphql', import.meta.url), 'utf8');
      const file = path.join(folder.path, 'supergraph.graphql');
      await writeFile(
        file,
        sdl.replace('http://media:4001', media).replace('http://workflow:4002', workflow),
      );
      return file;
    },
    async close() {
      await Promise.all([...parts.keys()].map((role) => end(role, 'SIGTERM')));
      await sandbox.stop();
      await database.drop();
      await folder.remove();
    },
  };
}

/** Starts a part at its port, and waits until it is ready. */
export async function startPart(
  role: Role,
  { settings, isProcess }: { settings: Readonly<Record<string, string>>; isProcess: boolean },
): Promise<Part> {
  const origin = `http://127.0.0.1:${settings['PORT']}`;
  const ready = (printed: string) =>
    role === 'worker' ? Promise.resolve(printed.includes('the worker is ready')) : isReady(origin);
  if (isProcess) return startNode(scripts[role], ['--role', role], { settings, ready });
  const { output, end } = await startInside(starts[role], settings, ['--role', role]);
  await until(() => ready(output()), Boolean);
  return {
    output,
    async end(signal) {
      if (signal === 'SIGKILL') throw new Error(`${role} runs inside the test: it can't be killed`);
      await end();
    },
  };
}

async function freeAddresses(): Promise<Record<Role, string>> {
  const [gateway, media, workflow, worker] = await freePorts(4);
  const at = (port: number | undefined) => `http://127.0.0.1:${port}`;
  return { gateway: at(gateway), media: at(media), workflow: at(workflow), worker: at(worker) };
}
