import { isDeepStrictEqual } from 'node:util';

import type { Bench, BenchTools, Figure } from '../bench.ts';
import { memoryMiB } from '../processes.ts';
import { computeCostRatio, formatFigures, measureInTurns, median, servedSubject } from '../rounds.ts';
import { eventsInTime } from './events.ts';
import {
  type GatewayName,
  type GatewayProcess,
  GATEWAYS,
  startGateway,
  startSurroundings,
  type Surroundings,
  readVersions,
} from './servers.ts';
import { largeSupergraph, MANY, MANY_QUERY, QUERY, shopSupergraph } from './world.ts';

type Measure = (tools: BenchTools, around: Surroundings) => Promise<Figure>;

const createBench = (name: string, measure: Measure): Bench => ({
  name,
  run: async (tools) => [await measure(tools, await startSurroundings(tools))],
});

/**
 * The gateway of another graph beside Apollo Gateway and Hive Gateway, each with a header that goes on, tokens of an issuer, and traces: the query of
 * the public benchmark, cold starts with 50 subgraphs, memory over 10,000 operations, and events with slow joins.
 */
export const gatewayBenches: readonly Bench[] = [
  createBench('gateways', benchmarkQuery),
  createBench('gateway-starts', coldStarts),
  createBench('gateway-memory', memory),
  { name: 'gateway-events', run: async (tools) => [await eventsInTime(tools)] },
];

async function benchmarkQuery(tools: BenchTools, around: Surroundings): Promise<Figure> {
  const supergraph = shopSupergraph(around.origin);
  const running: GatewayProcess[] = [];
  for (const name of GATEWAYS)
    running.push(await startGateway(tools, name, { around, supergraph, query: QUERY }));
  await assertTheSame(running, around);
  const body = JSON.stringify({ query: QUERY });
  const subjects = running.map(({ name, pid, url }) =>
    servedSubject(tools.load, {
      name,
      pid,
      request: { url, method: 'POST', headers: around.headers, body, connections: 8 },
    }),
  );
  const rounds = await measureInTurns(tools, subjects);
  await assertTraced(running, around);
  for (const gateway of running) await gateway.stop();
  const ratios = {
    apollo: computeCostRatio(rounds, 'kiln', 'apollo'),
    hive: computeCostRatio(rounds, 'kiln', 'hive'),
  };
  return {
    what: "the public benchmark's query with a header, a token and traces",
    ours: formatFigures(rounds, 'kiln'),
    baseline: `Apollo Gateway: ${formatFigures(rounds, 'apollo')}; Hive Gateway: ${formatFigures(rounds, 'hive')}`,
    ratio: { value: Math.min(ratios.apollo, ratios.hive), target: 5 },
    note: `processor time against the better one; ${await readVersions()}`,
  };
}

/** What is fast because it answers something else is not faster, nor one that takes no token. */
async function assertTheSame(running: readonly GatewayProcess[], { headers }: Surroundings): Promise<void> {
  const ask = async (url: string, given: Readonly<Record<string, string>>) =>
    fetch(url, { method: 'POST', headers: given, body: JSON.stringify({ query: QUERY }) });
  const { authorization: _, ...anonymous } = headers;
  const answers = await Promise.all(
    running.map(async ({ url }) => ((await (await ask(url, headers)).json()) as { data: unknown }).data),
  );
  for (const [index, { name, url }] of running.entries()) {
    if (!isDeepStrictEqual(answers[index], answers[0])) throw new Error(`${name} answers something else`);
    const refused = await ask(url, anonymous);
    if (refused.status !== 401) throw new Error(`${name} takes no token: ${refused.status}`);
  }
}

/** Each of them has sent traces: what a few more requests cause at the collector. */
async function assertTraced(running: readonly GatewayProcess[], around: Surroundings): Promise<void> {
  for (const { name, url } of running) {
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    await around.program.ask({});
    await fetch(url, { method: 'POST', headers: around.headers, body: JSON.stringify({ query: QUERY }) });
    await new Promise((resolve) => setTimeout(resolve, 7_000));
    const { traces } = await around.program.ask<{ traces: number }>({});
    if (traces === 0) throw new Error(`${name} has sent no traces`);
  }
}

async function coldStarts(tools: BenchTools, around: Surroundings): Promise<Figure> {
  const supergraph = largeSupergraph(around.origin);
  const seconds: Record<GatewayName, number[]> = { kiln: [], apollo: [], hive: [] };
  for (let round = 1; round <= 3; round += 1) {
    for (const name of GATEWAYS) {
      const gateway = await startGateway(tools, name, { around, supergraph, query: MANY_QUERY });
      seconds[name].push(gateway.startSeconds);
      await gateway.stop();
      tools.say(`start ${round}, ${name}: ${gateway.startSeconds.toFixed(2)} s`);
    }
  }
  const [kiln, apollo, hive] = GATEWAYS.map((name) => median(seconds[name]));
  return {
    what: `cold start with ${MANY} subgraphs to the first answer`,
    ours: `${kiln?.toFixed(2)} s`,
    baseline: `Apollo Gateway: ${apollo?.toFixed(2)} s; Hive Gateway: ${hive?.toFixed(2)} s`,
    ratio: { value: Math.min(apollo ?? 0, hive ?? 0) / (kiln ?? 1), target: 1 },
    note: 'median of three starts in turns',
  };
}

const OPERATIONS = 10_000;
const SAMPLES = 10;

/** Each is an operation of its own that is planned: names of inner members differ. */
async function memory(tools: BenchTools, around: Surroundings): Promise<Figure> {
  const supergraph = shopSupergraph(around.origin);
  const gateway = await startGateway(tools, 'kiln', { around, supergraph, query: QUERY });
  const samples: number[] = [memoryMiB(gateway.pid) ?? Number.NaN];
  for (let sent = 0; sent < OPERATIONS;) {
    const until = sent + OPERATIONS / SAMPLES;
    await Promise.all(
      Array.from({ length: 8 }, async (_, lane) => {
        for (let at = sent + lane; at < until; at += 8) await askDistinct(gateway.url, around, at);
      }),
    );
    sent = until;
    samples.push(memoryMiB(gateway.pid) ?? Number.NaN);
    tools.say(`${sent} operations: ${samples.at(-1)?.toFixed(0)} MiB`);
  }
  await gateway.stop();
  const half = samples.slice(-SAMPLES / 2);
  return {
    what: `resident memory over ${OPERATIONS} distinct operations`,
    ours: samples.map((mib) => mib.toFixed(0)).join(', '),
    baseline: '',
    ratio: { value: Math.min(...half) / Math.max(...half), target: 0.85 },
    note: `MiB at the start and after each ${OPERATIONS / SAMPLES}; least of the second half by its most`,
  };
}

async function askDistinct(url: string, { headers }: Surroundings, at: number): Promise<void> {
  const query = `{ users { n${at}: name reviews { id b${at}: body product { upc p${at}: price shippingEstimate } } } }`;
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
  const text = await answer.text();
  if (!answer.ok || text.includes('"errors"')) throw new Error(text.slice(0, 300));
}
