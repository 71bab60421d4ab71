import path from 'node:path';

import type { PoolConfig } from 'pg';

import { startEmbeddedPostgres } from '../../../platform/database/embedded-postgres/embedded-postgres.ts';
import { silentLogger } from '../../../platform/process/logger.ts';
import { freePorts } from '../../../test/kit/processes/free-ports.ts';
import { startSandboxProcess, type SandboxProcess } from '../../../test/kit/processes/sandbox-process.ts';
import { isReady, temporaryFolder } from '../../../test/topology/places.ts';
import { startNode, type Program } from '../../../test/topology/processes.ts';
import type { BenchTools } from '../bench.ts';

/** A split Kiln for bursts: a gateway, a media subgraph, a workflow subgraph and a worker over a database of their own. */
export interface BurstKiln {
  readonly url: string;
  /** How to connect to the database. */
  readonly config: PoolConfig;
  /** Where the database and its files are. */
  readonly folder: string;
  /** What its processes have in common. */
  readonly settings: Readonly<Record<string, string>>;
  readonly sandbox: SandboxProcess;
  readonly gateway: Program;
  readonly media: Program;
  readonly workflow: Program;
  readonly worker: Program;
  /** A gauge or counter of a part, all its series with this label added up; 0 while the part does not answer. */
  metric(part: 'gateway' | 'media' | 'worker', series: string): Promise<number>;
}

const METRICS_KEY = 'only-for-the-bench-of-bursts-0123456789';
/** Milliseconds for an answer of /metrics: a busy process has none. */
const METRICS_MS = 2_000;

/** Starts it; it is stopped with the tools. No rate or number of connections is limited. `more` are settings of all its processes. */
export async function startBurstKiln(
  { lifecycle }: BenchTools,
  more: Readonly<Record<string, string>> = {},
): Promise<BurstKiln> {
  const folder = await temporaryFolder();
  lifecycle.add('folder', () => folder.remove());
  const database = await startEmbeddedPostgres({
    dataDir: path.join(folder.path, 'database'),
    logger: silentLogger(),
  });
  lifecycle.add('database', () => database.stop());
  const [gateway = 0, media = 0, workflow = 0, worker = 0, workerMetrics = 0] = await freePorts(5);
  const at = (port: number): string => `http://127.0.0.1:${port}`;
  const sandbox = await startSandboxProcess(path.join(folder.path, 'sandbox'), { kilnUrl: at(gateway) });
  lifecycle.add('sandbox', () => sandbox.stop());
  // What is submitted stays queued upstream, so that nothing else is measured.
  await sandbox.latency({ queuedMs: 600_000 });
  const { host = '', port = 5432, user = '', database: name = '' } = database.config;
  const settings = {
    DATABASE_URL: `postgresql://${user}@/${name}?host=${encodeURIComponent(host)}&port=${port}`,
    SANDBOX_URL: sandbox.url,
    DATA_DIR: path.join(folder.path, 'files'),
    PUBLIC_URL: at(gateway),
    MEDIA_URL: `${at(media)}/graphql`,
    WORKFLOW_URL: `${at(workflow)}/graphql`,
    INTERNAL_KEY: 'only-for-tests-0123456789abcdef0123456789',
    RATE_LIMIT: 'off',
    CONNECTION_LIMIT: '0',
    METRICS_KEY,
    ...more,
  };
  const start = async (script: string, role: string, own: number): Promise<Program> => {
    // A worker's own port answers probes only.
    const more = role === 'worker' ? { METRICS_PORT: String(workerMetrics) } : {};
    const program = await startNode(script, ['--role', role], {
      settings: { ...settings, ...more, PORT: String(own) },
      ready: async (printed) =>
        role === 'worker' ? printed.includes('the worker is ready') : isReady(at(own)),
    });
    lifecycle.add(role, () => program.end());
    return program;
  };
  const mediaProgram = await start('subgraphs/media/main.ts', 'media', media);
  const workflowProgram = await start('subgraphs/workflow/main.ts', 'workflow', workflow);
  const workerProgram = await start('subgraphs/media/main.ts', 'worker', worker);
  const gatewayProgram = await start('gateway/main.ts', 'gateway', gateway);
  return {
    url: at(gateway),
    config: database.config,
    folder: folder.path,
    settings,
    sandbox,
    gateway: gatewayProgram,
    media: mediaProgram,
    workflow: workflowProgram,
    worker: workerProgram,
    metric: (part, series) => read(`${at({ gateway, media, worker: workerMetrics }[part])}/metrics`, series),
  };
}

async function read(url: string, series: string): Promise<number> {
  try {
    const headers = { authorization: `Bearer ${METRICS_KEY}` };
    const text = await (await fetch(url, { headers, signal: AbortSignal.timeout(METRICS_MS) })).text();
    const lines = text
      .split('\n')
      .filter(
        (line) => line.startsWith(series.split('{')[0] ?? '') && line.includes(series.split('{')[1] ?? ''),
      );
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  } catch {
    return 0;
  }
}
