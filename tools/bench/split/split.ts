import { setTimeout as pause } from 'node:timers/promises';

import type { Bench, BenchTools, Figure } from '../bench.ts';
import { startProgram } from '../processes.ts';
import { startBareServer } from '../rest-status/rest-status.ts';
import { median } from '../rounds.ts';
import { threadsMs, usedBetween } from './processor-time.ts';
import { startWorld, type Topology, type World } from './world.ts';

/** What is measured: how often a second (null: one after the other over so many connections), and how much the split may cost. */
interface Spell {
  readonly kind: 'status' | 'read' | 'list' | 'catalog' | 'submit' | 'delivery';
  readonly perSecond: number | null;
  readonly connections: number;
  readonly target: number;
}

const LATENCY = { perSecond: null, connections: 1, target: 2 };
const BUSY = { perSecond: null, connections: 16, target: 2 };
const rated = (perSecond: number, target = 2) => ({ perSecond, connections: 0, target });

const spells: readonly Spell[] = [
  { kind: 'status', ...LATENCY },
  { kind: 'status', ...BUSY },
  ...[10, 100, 1_000].map((rate): Spell => ({ kind: 'status', ...rated(rate) })),
  { kind: 'read', ...LATENCY },
  { kind: 'read', ...BUSY },
  ...[10, 100, 1_000].map((rate): Spell => ({ kind: 'read', ...rated(rate) })),
  { kind: 'catalog', ...BUSY },
  { kind: 'list', ...LATENCY },
  { kind: 'list', ...BUSY },
  ...[10, 100].map((rate): Spell => ({ kind: 'list', ...rated(rate) })),
  ...[10, 100].map((rate): Spell => ({ kind: 'submit', ...rated(rate, 1.5) })),
  ...[10, 100, 1_000].map((rate): Spell => ({ kind: 'delivery', ...rated(rate, 1.5) })),
];

/** What one run found. */
interface Run {
  /** Microseconds of processor time for each operation, by part. */
  readonly micros: Readonly<Record<string, number>>;
  readonly total: number;
  readonly p50: number;
  readonly perSecond: number;
}

const ROUNDS = Number(process.env['SPLIT_ROUNDS'] ?? 3);
const SPELL_MS = 3_000;
/** Of few requests: what a process or PostgreSQL does now and then by itself must not fall on thirty of them. */
const LONG_SPELL_MS = 9_000;
const FEW_PER_SECOND = 10;
/** In which processes that stood still make up for what they have missed. */
const SETTLE_MS = 5_000;
const WARM_UP_MS = 4_000;

/**
 * The same requests to Kiln as one process and to a split one, in turns over one PostgreSQL: processor time of every part. SPLIT_KINDS
 * (such as `status,list`) measures some of them, SPLIT_ROUNDS is how often (default 3). The table says of each goal whether it is met.
 */
export const split: Bench = {
  name: 'split',
  async run(tools) {
    const bare = await bareFigure(tools);
    const world = await startWorld(tools);
    const kinds = process.env['SPLIT_KINDS']?.split(',');
    const wanted = spells.filter(({ kind }) => kinds === undefined || kinds.includes(kind));
    const found = new Map<string, Run[]>();
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const topology of world.topologies) {
        world.turnTo(topology);
        await pause(SETTLE_MS);
        for (const spell of wanted) {
          // The round that warms up is as long as the code needs to be compiled.
          const ms = round === 0 ? WARM_UP_MS / 2 : findLength(spell);
          const startedAt = new Date();
          const run = await measure(world, { topology, spell, ms });
          if (spell.kind === 'submit') await world.cancelOpen(topology, startedAt);
          if (round === 0) continue;
          const key = formatKey(topology, spell);
          found.set(key, [...(found.get(key) ?? []), run]);
          tools.say(`round ${round}, ${key}: ${run.total.toFixed(0)} µs, p50 ${run.p50.toFixed(2)} ms`);
        }
      }
    }
    return [bare, ...wanted.flatMap((spell) => createFigures(spell, world, found))];
  },
};

const formatKey = ({ name }: Topology, { kind, perSecond, connections }: Spell): string =>
  `${name}, ${kind} ${perSecond === null ? `over ${connections} connections` : `${perSecond}/s`}`;

const findLength = ({ perSecond }: Spell): number =>
  perSecond !== null && perSecond <= FEW_PER_SECOND ? LONG_SPELL_MS : SPELL_MS;

async function measure(
  world: World,
  { topology, spell, ms }: { topology: Topology; spell: Spell; ms: number },
): Promise<Run> {
  const before = world.cost(topology);
  const startedAt = performance.now();
  const { count, p50 } = await send(world, { topology, spell, ms });
  const seconds = (performance.now() - startedAt) / 1000;
  const after = world.cost(topology);
  const micros = Object.fromEntries(
    Object.entries(after).map(([part, used]) => [
      part,
      (usedBetween(before[part] ?? used, used) * 1000) / count,
    ]),
  );
  const total = Object.values(micros).reduce((sum, each) => sum + each, 0);
  return { micros, total, p50, perSecond: count / seconds };
}

async function send(
  world: World,
  { topology, spell, ms }: { topology: Topology; spell: Spell; ms: number },
): Promise<{ readonly count: number; readonly p50: number }> {
  const { kind, perSecond, connections } = spell;
  if (kind === 'delivery') {
    const { deliveries, p50 } = await world.deliver(topology, { perSecond: perSecond ?? 0, ms });
    return { count: deliveries, p50 };
  }
  const order =
    perSecond === null ? { rates: {}, inTurn: { kind, connections } } : { rates: { [kind]: perSecond } };
  const { counts, failed, p50 } = await world.traffic(topology, { ms, ...order });
  if (failed.length > 0) throw new Error(`${formatKey(topology, spell)}: ${failed.join('; ')}`);
  return { count: counts[kind] ?? 0, p50 };
}

/** Processor time, and with one connection also the wait of the one who asks. */
function createFigures(
  spell: Spell,
  { topologies }: World,
  found: ReadonlyMap<string, readonly Run[]>,
): readonly Figure[] {
  const [whole = [], apart = []] = topologies.map((topology) => found.get(formatKey(topology, spell)) ?? []);
  const ratios = (of: (run: Run) => number) =>
    apart.map((run, round) => of(run) / of(whole[round] ?? { ...run, total: NaN, p50: NaN }));
  const { kind, perSecond, connections, target } = spell;
  const what = `${kind}, ${perSecond === null ? `${connections} connections` : `${perSecond}/s`}`;
  const bound = (values: readonly number[]) => ({ value: median(values), target, atMost: true });
  const spread = (values: readonly number[]) =>
    `rounds ${values.map((value) => value.toFixed(2)).join(', ')}`;
  const [costs, waits] = [ratios(({ total }) => total), ratios(({ p50 }) => p50)];
  const cost: Figure = {
    what: `${what}: processor time`,
    ours: inWords(apart),
    baseline: `one process: ${inWords(whole)}`,
    ratio: bound(costs),
    note: spread(costs),
  };
  const middle = (runs: readonly Run[]) => `${median(runs.map(({ p50 }) => p50)).toFixed(2)} ms`;
  const wait: Figure = {
    what: `${what}: p50`,
    ours: middle(apart),
    baseline: `one process: ${middle(whole)}`,
    ratio: bound(waits),
    note: spread(waits),
  };
  return connections === 1 ? [cost, wait] : [cost];
}

function inWords(runs: readonly Run[]): string {
  const parts = Object.keys(runs[0]?.micros ?? {}).map(
    (part) => `${part} ${median(runs.map(({ micros }) => micros[part] ?? 0)).toFixed(0)}`,
  );
  const middle = (of: (run: Run) => number) => median(runs.map(of));
  const rate = `p50 ${middle(({ p50 }) => p50).toFixed(2)} ms, ${middle(({ perSecond }) => perSecond).toFixed(0)}/s`;
  return `${middle(({ total }) => total).toFixed(0)} µs (${parts.join(', ')}), ${rate}`;
}

/** What a proxy costs that does nothing else, before a server that does nothing else: no split can cost less than that. */
async function bareFigure(tools: BenchTools): Promise<Figure> {
  const bare = await startBareServer(tools, { connection: '{}' });
  const program = new URL('bare-proxy.ts', import.meta.url);
  const proxy = await startProgram<{ url: string }>(program, [bare.url]);
  tools.lifecycle.add('bare proxy', () => proxy.stop());
  const cost = async (url: string, pids: readonly number[]): Promise<number> => {
    const before = threadsMs(pids);
    const { requests } = await tools.load.measure({ url, paths: ['/nothing'], ms: SPELL_MS });
    return ((threadsMs(pids) - before) * 1000) / requests;
  };
  const direct: number[] = [];
  const behind: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const [one, both] = [
      await cost(bare.url, [bare.pid]),
      await cost(proxy.ready.url, [bare.pid, proxy.pid]),
    ];
    if (round > 0) direct.push(one);
    if (round > 0) behind.push(both);
  }
  return {
    what: 'a bare proxy before a bare server, 16 connections',
    ours: `${median(behind).toFixed(0)} µs both`,
    baseline: `${median(direct).toFixed(0)} µs without the proxy`,
    ratio: null,
    note: 'node:http, undici, no work: the least that a second process costs over plain HTTP',
  };
}
