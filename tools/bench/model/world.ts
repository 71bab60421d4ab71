import { Client } from 'pg';

import { until } from '../../../test/kit/clients/requests.ts';
import { graphql } from '../../../test/kit/clients/requests.ts';
import type { BenchTools } from '../bench.ts';
import { startBurstKiln } from '../burst/split.ts';
import { startProgram } from '../processes.ts';
import type { CrowdOrder, Heard } from '../subscribers/subscribers.ts';
import { costPerRole, type Spell } from './costs.ts';
import type { Sent, TrafficOrder } from './traffic.ts';
import { watch } from './watch.ts';

/** A split Kiln with running work, followers and traffic, of which spells are measured. */
export interface World {
  /** What a process takes in memory for one follower, in KiB. */
  readonly socketKiB: { readonly gateway: number; readonly media: number };
  /** Starts the work that runs all the time: tasks that are asked for and do not move. */
  startLongWork(): Promise<void>;
  /** One spell of traffic and entries. */
  spell(order: SpellOrder): Promise<Spell>;
  /** Bytes of the database for a finished task and for an entry of its log. */
  bytes(): Promise<{ readonly task: number; readonly entry: number }>;
}

/** What happens in a spell. */
export interface SpellOrder {
  readonly ms: number;
  readonly rates?: TrafficOrder['rates'];
  /** Entries a second of tasks with one follower, and of those with many. */
  readonly entries?: { readonly single?: number; readonly crowded?: number };
  /** The worker stands still, so that what is submitted waits. */
  readonly withoutWorker?: boolean;
}

/** Tasks with one follower each, and tasks with many. */
const SINGLE = 400;
const CROWDED = 20;
const FOLLOWERS = 20;
/** Tasks that run all the time: as many as the bindings of these generators take at once in the sandbox. */
const LONG = { vidb: 64, 'agg/vidb': 64, vidc: 64, 'agg/vidc': 64 } as const;
const READ = 50;

/** Starts it. */
export async function startWorld(tools: BenchTools): Promise<World> {
  const { lifecycle } = tools;
  const kiln = await startBurstKiln(tools);
  const connection = JSON.stringify(kiln.config);
  const client = new Client(kiln.config);
  await client.connect();
  lifecycle.add('connection', () => client.end());
  for (const wire of ['minimax', 'kling']) await kiln.sandbox.latency({ wire, queuedMs: 600_000 });
  await kiln.sandbox.latency({ wire: 'midjourney', queuedMs: 0, runningMs: 0, concurrency: 500 });
  const begin = async <Ready>(file: string, words: readonly string[] = []) => {
    const program = await startProgram<Ready>(new URL(file, import.meta.url), words);
    lifecycle.add(file, () => program.stop());
    return program;
  };
  const writer = (tasks: number) =>
    begin<{ ids: readonly string[] }>('../subscribers/writer.ts', [connection, String(tasks)]);
  const writers = { single: await writer(SINGLE), crowded: await writer(CROWDED) };
  const traffic = await begin('traffic.ts');
  const crowd = await begin('../subscribers/crowd.ts');
  const watched = watch(kiln, [writers.single.pid, writers.crowded.pid]);
  const memory = () => ({ gateway: watched.memory('gateway'), media: watched.memory('media') });
  const followed = [
    ...writers.single.ready.ids,
    ...Array.from({ length: FOLLOWERS }, () => writers.crowded.ready.ids).flat(),
  ];
  const before = memory();
  await crowd.ask({ url: `${kiln.url.replace('http', 'ws')}/graphql`, ids: followed } satisfies CrowdOrder);
  const after = memory();
  const socket = (role: 'gateway' | 'media') => ((after[role] - before[role]) * 1024) / followed.length;
  const sent = await traffic.ask<Sent>({ url: kiln.url, ms: 1_000, rates: { submit: READ }, ids: [] });
  const rows = async <Row extends object>(query: string) => (await client.query<Row>(query)).rows;
  const open = async () =>
    (
      await rows<{ open: number }>(`select count(*)::integer as open from media.tasks
      where generator = 'agg/imga' and state in ('QUEUED', 'RUNNING')`)
    )[0]?.open ?? 0;
  const calls = () => kiln.metric('worker', 'kiln_outbound_request_seconds_count');
  const events = async () =>
    Number((await rows<{ last: string }>('select sum(last_seq) as last from media.tasks'))[0]?.last ?? 0);

  const write = async (which: 'single' | 'crowded', perSecond: number | undefined, ms: number) =>
    perSecond === undefined ? { written: 0 } : writers[which].ask<{ written: number }>({ perSecond, ms });

  async function spell({ ms, rates = {}, entries = {}, withoutWorker = false }: SpellOrder): Promise<Spell> {
    if (withoutWorker) kiln.worker.signal('SIGSTOP');
    const began = {
      at: performance.now(),
      cost: watched.cost(),
      calls: withoutWorker ? 0 : await calls(),
      events: await events(),
    };
    const [answered, single, crowded] = await Promise.all([
      traffic.ask<Sent>({ url: kiln.url, ms, rates, ids: sent.ids } satisfies TrafficOrder),
      write('single', entries.single, ms),
      write('crowded', entries.crowded, ms),
    ]);
    const deliveries = single.written + FOLLOWERS * crowded.written;
    await crowd.ask<Heard>({ expected: deliveries });
    const { submit = 0, ...requests } = answered.counts;
    // What was submitted belongs to the spell until it has ended; without a worker it does not end.
    if (!withoutWorker) await until(open, (left) => left === 0, 30_000, 100);
    const cost = watched.cost();
    const seconds = (performance.now() - began.at) / 1000;
    const written = single.written + crowded.written;
    const counts = {
      ...requests,
      submit,
      task: withoutWorker ? 0 : submit,
      entry: written,
      delivery: deliveries,
      // Of each task: its start and the fetching of its result.
      poll: withoutWorker ? 0 : (await calls()) - began.calls - 2 * submit,
      own: (await events()) - began.events - written,
    };
    if (withoutWorker) {
      kiln.worker.signal('SIGCONT');
      await until(open, (left) => left === 0, 60_000, 100);
    }
    if (answered.failed.length > 0) throw new Error(answered.failed.join('; '));
    const used = costPerRole((role) => cost[role] - began.cost[role]);
    tools.say(
      `${seconds.toFixed(1)} s ${JSON.stringify(counts)}, p50 ${answered.p50.toFixed(0)}, p99 ${answered.p99.toFixed(0)} ms; ${JSON.stringify(used)}`,
    );
    return { seconds, cost: used, counts };
  }

  return {
    socketKiB: { gateway: socket('gateway'), media: socket('media') },
    spell,
    async startLongWork() {
      for (const [generator, count] of Object.entries(LONG))
        for (let done = 0; done < count; done += 1) await startVideo(kiln.url, generator);
      await until(
        () =>
          rows<{ running: number }>(
            `select count(*)::integer as running from media.attempts where state = 'RUNNING'`,
          ),
        ([row]) => (row?.running ?? 0) >= Object.values(LONG).reduce((sum, count) => sum + count, 0),
        60_000,
        200,
      );
    },
    async bytes() {
      await client.query('vacuum full media.tasks, media.task_steps, media.attempts, media.task_events');
      const [row] = await rows<{ task: number; entry: number }>(`select
        (pg_total_relation_size('media.tasks') + pg_total_relation_size('media.task_steps') + pg_total_relation_size('media.attempts'))::float
          / (select count(*) from media.tasks) as task,
        pg_total_relation_size('media.task_events')::float / (select count(*) from media.task_events) as entry`);
      return row ?? { task: 0, entry: 0 };
    },
  };
}

async function startVideo(url: string, generator: string): Promise<void> {
  const query = `mutation ($generator: String!) { generateVideo(input: { generator: $generator, prompt: "a teapot" }) { id } }`;
  const { errors } = await graphql(url, query, { generator });
  if (errors !== undefined) throw new Error(JSON.stringify(errors));
}
