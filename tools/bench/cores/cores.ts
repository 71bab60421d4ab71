import { readFileSync } from 'node:fs';

import { freePorts } from '../../../test/kit/processes/free-ports.ts';
import { serviceKey } from '../../../test/kit/processes/kiln-process.ts';
import { isReady } from '../../../test/topology/places.ts';
import { startNode, type Program } from '../../../test/topology/processes.ts';
import type { Bench, BenchTools, Figure } from '../bench.ts';
import { type BurstKiln, startBurstKiln } from '../burst/split.ts';
import type { Sent, TrafficOrder } from '../model/traffic.ts';
import { startProgram } from '../processes.ts';
import { finishedTasks } from '../rest-status/rest-status.ts';
import { median } from '../rounds.ts';
import { readTimes, usedBetween } from '../split/processor-time.ts';
import { KEY_HASH } from '../split/world.ts';

/**
 * PROCESSES=2 against one process, over one database: processor time of Kiln's own processes for each request; the load generator and
 * PostgreSQL are outside the measure. What two cores have time for is held against what one has, with as many callers of each process:
 * twice as many requests that wait as long each are twice as many callers, and what comes at the same time is read together. The same callers
 * over both processes are told besides, where fewer share a statement.
 */
export const cores: Bench = {
  name: 'cores',
  async run(tools) {
    const kiln = await startBurstKiln(tools, { SERVICE_KEYS: `tests=${KEY_HASH}`, DATABASE_POOL: '10' });
    const connection = JSON.stringify(kiln.config);
    await kiln.sandbox.latency({ queuedMs: 0, runningMs: 0 });
    const { ids } = await finishedTasks({ url: kiln.url, connection });
    // What is submitted stays queued upstream, so that nothing else is measured.
    await kiln.sandbox.latency({ queuedMs: 600_000 });
    for (const part of [kiln.gateway, kiln.media, kiln.workflow, kiln.worker]) await part.end();
    const start = (processes: string) =>
      startWhole(tools, kiln, { PROCESSES: processes, DATA_DIR: `${kiln.folder}/${processes}` });
    const [one, two] = [await start('1'), await start('2')];
    const sender = await startProgram(new URL('../model/traffic.ts', import.meta.url));
    tools.lifecycle.add('traffic', () => sender.stop());
    const send = (whole: Whole, order: Pick<TrafficOrder, 'ms' | 'inTurn'>) =>
      sender.ask<Sent>({ ...order, rates: {}, url: whole.url, ids, headers: serviceKey });
    const subjects: readonly Subject[] = [
      { whole: one, connections: CONNECTIONS },
      { whole: two, connections: 2 * CONNECTIONS },
      { whole: two, connections: CONNECTIONS },
    ];
    const figures: Figure[] = [];
    for (const kind of KINDS) {
      const found: Run[][] = subjects.map(() => []);
      for (let round = 0; round <= tools.rounds; round += 1) {
        for (const [index, subject] of subjects.entries()) {
          const run = await measure(subject, kind, send);
          if (round > 0) found[index]?.push(run);
        }
      }
      const [single = [], ...others] = found;
      figures.push(...others.map((runs, index) => createFigure({ kind, single, runs, isGoal: index === 0 })));
    }
    return figures;
  },
};

const KINDS = ['status', 'read', 'list', 'submit'] as const;
const SPELL_MS = 3_000;
/** Of submissions, which stay: all rounds together must fit into the queue of one model. */
const SUBMIT_MS = 500;
/** Of each process. */
const CONNECTIONS = 32;
/** How much more two cores shall serve than one. */
const TARGET = 1.8;

/** A running Kiln, and its processes. */
export interface Whole {
  readonly url: string;
  readonly pids: () => readonly number[];
}

interface Subject {
  readonly whole: Whole;
  readonly connections: number;
}

interface Run {
  readonly micros: number;
  readonly perSecond: number;
}

async function measure(
  { whole, connections }: Subject,
  kind: (typeof KINDS)[number],
  send: (whole: Whole, order: Pick<TrafficOrder, 'ms' | 'inTurn'>) => Promise<Sent>,
): Promise<Run> {
  const before = readTimes(whole.pids());
  const ms = kind === 'submit' ? SUBMIT_MS : SPELL_MS;
  const { counts, failed } = await send(whole, { ms, inTurn: { kind, connections } });
  if (failed.length > 0) throw new Error(`${kind}: ${failed.join('; ')}`);
  const count = counts[kind] ?? 0;
  const micros = (usedBetween(before, readTimes(whole.pids())) * 1000) / count;
  return { micros, perSecond: (count * 1000) / ms };
}

interface Compared {
  readonly kind: string;
  readonly single: readonly Run[];
  readonly runs: readonly Run[];
  /** Whether the goal is of this number of callers. */
  readonly isGoal: boolean;
}

function createFigure({ kind, single, runs, isGoal }: Compared): Figure {
  const multiples = runs.map(({ micros }, round) => (2 * (single[round]?.micros ?? NaN)) / micros);
  const inWords = (some: readonly Run[]) =>
    `${median(some.map(({ micros }) => micros)).toFixed(0)} µs, ${median(some.map(({ perSecond }) => perSecond)).toFixed(0)}/s here`;
  const more = median(multiples);
  const rounds = `rounds ${multiples.map((value) => value.toFixed(2)).join(', ')}`;
  return {
    what: `${kind}, PROCESSES=2, ${isGoal ? `${CONNECTIONS} connections of each process` : `${CONNECTIONS} connections of both`}`,
    ours: inWords(runs),
    baseline: `one process: ${inWords(single)}`,
    ratio: isGoal ? { value: more, target: TARGET } : null,
    note: `requests that two cores have time for, as a multiple of one, by processor time of Kiln: ${more.toFixed(2)}, ${rounds}`,
  };
}

/** Starts Kiln as a whole over the database of another one, unless the settings say otherwise. */
export async function startWhole(
  { lifecycle }: BenchTools,
  kiln: BurstKiln,
  own: Readonly<Record<string, string>>,
): Promise<Whole> {
  const port = own['PORT'] ?? String((await freePorts(1))[0]);
  const url = `http://127.0.0.1:${port}`;
  const { MEDIA_URL: _media, WORKFLOW_URL: _workflow, ...shared } = kiln.settings;
  const isOne = (own['PROCESSES'] ?? '1') === '1';
  const program = await startNode('gateway/main.ts', [], {
    settings: { ...shared, CONSOLE_BUILD: 'off', ...own, PORT: port },
    ready: async (printed) => (isOne || printed.includes('all processes serve')) && isReady(url),
  });
  lifecycle.add('whole', () => program.end());
  return { url, pids: () => withChildren(program) };
}

function withChildren({ pid }: Program): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return [pid, ...children.split(' ').filter(Boolean).map(Number)];
}
