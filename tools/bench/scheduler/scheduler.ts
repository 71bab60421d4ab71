import { DEFAULT_SLOTS } from '../../../subgraphs/media/tasks/work/attempts/dependencies.ts';
import type { Bench, Figure } from '../bench.ts';
import { simulate, type Order, type PollCosts, type Simulated } from './simulation.ts';

/** As `npm run bench -- model` finds them, on busy processors; an answer of a provider takes 50 to 150 ms. */
const COSTS: PollCosts = {
  database: Number(process.env['POLL_DATABASE_MICROS'] ?? 183) / 1000,
  worker: Number(process.env['POLL_WORKER_MICROS'] ?? 300) / 1000,
  answer: 100,
};
const TASKS = Number(process.env['SCHEDULER_TASKS'] ?? 1_000_000);
const AWAY = 'kling VIDEO';

const orders: readonly (Order & { readonly what: string })[] = [
  {
    what: 'POLL_SLOTS as it is, a database that is never busy',
    tasks: TASKS,
    workers: Math.ceil(TASKS / 4_000),
    slots: DEFAULT_SLOTS.poll,
    seconds: 4,
    databaseCores: null,
  },
  {
    what: 'POLL_SLOTS=512, a database that is never busy',
    tasks: TASKS,
    workers: Math.ceil(TASKS / 4_000),
    slots: 512,
    seconds: 4,
    databaseCores: null,
  },
  {
    what: `POLL_SLOTS=512, one PostgreSQL of 16 cores, ${AWAY} away for 30 s`,
    tasks: TASKS / 25,
    workers: Math.ceil(TASKS / 100_000),
    slots: 512,
    seconds: 60,
    databaseCores: 16,
    away: { wire: AWAY, from: 15, until: 45 },
  },
];

/** The scheduler with a million running tasks: the product's rounds, intervals and breakers, with a clock that is faked. */
export const scheduler: Bench = {
  name: 'scheduler',
  async run(tools) {
    const figures: Figure[] = [];
    for (const { what, ...order } of orders) {
      tools.say(what);
      const began = performance.now();
      const found = await simulate(order, COSTS);
      const took = (performance.now() - began) / 1000;
      figures.push(
        createFigure(`${order.tasks} running tasks, ${order.workers} workers: ${what}`, found, took),
      );
      if (order.away !== undefined) figures.push(awayFigure(order.away, found));
    }
    return figures;
  },
};

function createFigure(what: string, { late, seen, calls }: Simulated, took: number): Figure {
  const rates = [...calls].map(([name, counts]) => `${name} ${computeRate(counts)}`);
  return {
    what,
    ours: `asked ${shares(late)} ms late; an end seen after ${shares(seen)} ms`,
    baseline: '',
    ratio: null,
    note: `calls a second: ${rates.join(', ')}; simulated in ${took.toFixed(0)} s`,
  };
}

function awayFigure({ wire, from, until }: NonNullable<Order['away']>, { calls }: Simulated): Figure {
  const counts = Array.from(calls.get(wire) ?? [], (count: number | undefined) => count ?? 0);
  const most = (begin: number, end?: number) => Math.max(...counts.slice(begin, end));
  return {
    what: `calls of ${wire} in a second, while it is away and when it is back`,
    ours: `at most ${most(5, from)} before, ${most(from + 2, until)} while it is away, ${most(until)} after`,
    baseline: '',
    ratio: null,
    note: '',
  };
}

/** Calls a second in the second half of the time. */
function computeRate(counts: readonly number[]): number {
  const half = counts.slice(Math.floor(counts.length / 2));
  return Math.round(half.reduce((sum, count) => sum + (count ?? 0), 0) / Math.max(1, half.length));
}

function shares(values: readonly number[]): string {
  const sorted = Float64Array.from(values).toSorted();
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
  return `p50 ${at(0.5).toFixed(0)}, p99 ${at(0.99).toFixed(0)}`;
}
