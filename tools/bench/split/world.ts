import { createHash } from 'node:crypto';
import path from 'node:path';

import { graphql, until } from '../../../test/kit/clients/requests.ts';
import { freePorts } from '../../../test/kit/processes/free-ports.ts';
import { serviceKey } from '../../../test/kit/processes/kiln-process.ts';
import { isReady } from '../../../test/topology/places.ts';
import { startNode, type Program } from '../../../test/topology/processes.ts';
import type { BenchTools } from '../bench.ts';
import { startBurstKiln, type BurstKiln } from '../burst/split.ts';
import type { Sent, TrafficOrder } from '../model/traffic.ts';
import { startProgram, type Program as Helper } from '../processes.ts';
import { finishedTasks } from '../rest-status/rest-status.ts';
import type { CrowdOrder, Heard } from '../subscribers/subscribers.ts';
import { type ByProcess, postgresPids, readTimes } from './processor-time.ts';

/** One Kiln of the two that are compared: its parts, and who follows its tasks. */
export interface Topology {
  readonly name: 'one process' | 'split';
  readonly url: string;
  readonly programs: Readonly<Record<string, Program>>;
  readonly crowd: Helper<unknown>;
  readonly writer: Helper<{ readonly ids: readonly string[] }>;
}

/** Both over one database, of which only one goes on at a time. */
export interface World {
  readonly topologies: readonly Topology[];
  /** Lets this one go on, and stops the other. */
  turnTo(topology: Topology): void;
  /** Processor time so far, by part. */
  cost(topology: Topology): Readonly<Record<string, ByProcess>>;
  traffic(topology: Topology, order: Omit<TrafficOrder, 'url' | 'ids'>): Promise<Sent>;
  /** Writes so many events a second, waits until all were delivered, and tells how they came. */
  deliver(topology: Topology, order: { readonly perSecond: number; readonly ms: number }): Promise<Heard>;
  /** Cancels what was submitted since then, and waits until nothing is open: the next figures are not those of its polls. */
  cancelOpen(topology: Topology, since: Date): Promise<void>;
  readonly kiln: BurstKiln;
  readonly ids: readonly string[];
}

/** Tasks that are followed at each. */
const FOLLOWED = 200;
/** Of the service key that all requests are made with. */
export const KEY_HASH = createHash('sha256')
  .update(serviceKey['authorization']?.slice('Bearer '.length) ?? '')
  .digest('hex');

/** Starts both; they are stopped with the tools. */
export async function startWorld(tools: BenchTools): Promise<World> {
  const { lifecycle } = tools;
  const kiln = await startBurstKiln(tools, { SERVICE_KEYS: `tests=${KEY_HASH}` });
  const connection = JSON.stringify(kiln.config);
  await kiln.sandbox.latency({ queuedMs: 0, runningMs: 0 });
  const { ids } = await finishedTasks({ url: kiln.url, connection });
  await kiln.sandbox.latency({ queuedMs: 600_000 });
  const whole = await startWhole(tools, kiln);
  const helpers = async (url: string) => {
    const start = async <Ready>(file: string, words: readonly string[] = []) => {
      const helper = await startProgram<Ready>(new URL(file, import.meta.url), words);
      lifecycle.add(file, () => helper.stop());
      return helper;
    };
    const words = [connection, String(FOLLOWED)];
    const writer = await start<{ ids: readonly string[] }>('../subscribers/writer.ts', words);
    const crowd = await start('../subscribers/crowd.ts');
    const order = { url: `${url.replace('http', 'ws')}/graphql`, ids: writer.ready.ids };
    await crowd.ask(order satisfies CrowdOrder);
    return { writer, crowd };
  };
  const { gateway, media, workflow, worker } = kiln;
  const topologies: readonly Topology[] = [
    {
      name: 'one process',
      url: whole.url,
      programs: { whole: whole.program },
      ...(await helpers(whole.url)),
    },
    {
      name: 'split',
      url: kiln.url,
      programs: { gateway, media, workflow, worker },
      ...(await helpers(kiln.url)),
    },
  ];
  const sender = await startProgram(new URL('../model/traffic.ts', import.meta.url));
  lifecycle.add('traffic', () => sender.stop());
  const all = (topology: Topology) => Object.values(topology.programs);
  const wake = (): void => topologies.flatMap(all).forEach((program) => program.signal('SIGCONT'));
  // Stopped processes would not hear that they are to end.
  lifecycle.add('stopped processes', async () => wake());
  const dataDir = path.join(kiln.folder, 'database/postgres/data');
  return {
    topologies,
    kiln,
    ids,
    turnTo(topology) {
      wake();
      for (const other of topologies)
        if (other !== topology) for (const program of all(other)) program.signal('SIGSTOP');
    },
    cost: ({ programs }) => ({
      ...Object.fromEntries(Object.entries(programs).map(([name, { pid }]) => [name, readTimes([pid])])),
      PostgreSQL: readTimes(postgresPids(dataDir)),
    }),
    traffic: ({ url }, order) => sender.ask<Sent>({ ...order, url, ids, headers: serviceKey }),
    async deliver({ writer, crowd }, order) {
      const { written } = await writer.ask<{ written: number }>(order);
      return crowd.ask<Heard>({ expected: written } satisfies CrowdOrder);
    },
    cancelOpen,
  };
}

/** Longest time until cancelled work has ended. */
const CANCEL_MS = 60_000;

async function cancelOpen({ url }: Topology, since: Date): Promise<void> {
  const filter = `{ states: [QUEUED, RUNNING], createdAfter: "${since.toISOString()}" }`;
  const ask = (query: string) => graphql(url, query, {}, serviceKey);
  const { errors } = await ask(`mutation { cancelTasks(filter: ${filter}) { id } }`);
  if (errors !== undefined) throw new Error(JSON.stringify(errors));
  await until(
    () => ask(`{ tasks(filter: ${filter}) { totalCount } }`),
    ({ data }) => data?.tasks?.totalCount === 0,
    CANCEL_MS,
  );
}

async function startWhole({ lifecycle }: BenchTools, { settings }: BurstKiln) {
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const { MEDIA_URL: _media, WORKFLOW_URL: _workflow, ...shared } = settings;
  const program = await startNode('gateway/main.ts', [], {
    settings: { ...shared, CONSOLE_BUILD: 'off', PORT: String(port) },
    ready: () => isReady(url),
  });
  lifecycle.add('whole', () => program.end());
  return { url, program };
}
