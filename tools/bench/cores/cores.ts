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
 * PROCESSES=2 against one process, over one database: processor time of Kiln's own processes for each request, with as many callers for
 * each process, as what comes at the same time is read together. Where it stays the same two cores serve twice as much; how much a machine
 * serves in fact depends on who else needs its cores.
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
    const [one, two] = [await startWhole(tools, kiln, 1), await startWhole(tools, kiln, 2)];
    const sender = await startProgram(new URL('../model/traffic.ts', import.meta.url));
    tools.lifecycle.add('traffic', () => sender.stop());
    const send = (whole: Whole, order: Pick<TrafficOrder, 'ms' | 'inTurn'>) =>
      sender.ask<Sent>({ ...order, rates: {}, url: whole.url, ids, headers: serviceKey });
    const figures: Figure[] = [];
    for (const kind of KINDS) {
      const found = new Map<Whole, Run[]>([
        [one, []],
        [two, []],
      ]);
      for (let round = 0; round <= tools.rounds; round += 1) {
        for (const [whole, runs] of found) {
          const run = await measure(whole, kind, send);
          if (round > 0) runs.push(run);
        }
      }
      figures.push(createFigure(kind, found.get(one) ?? [], found.get(two) ?? []));
    }
    return figures;
  },
};

const KINDS = ['status', 'read', 'list', 'submit'] as const;
const SPELL_MS = 3_000;
/** Of each process. */
const CONNECTIONS = 32;
/** How much more two cores shall serve than one. */
const TARGET = 1.8;

interface Whole {
  readonly url: string;
  readonly processes: number;
  readonly pids: () => readonly number[];
}

interface Run {
  readonly micros: number;
  readonly perSecond: number;
}

async function measure(
  whole: Whole,
  kind: (typeof KINDS)[number],
  send: (whole: Whole, order: Pick<TrafficOrder, 'ms' | 'inTurn'>) => Promise<Sent>,
): Promise<Run> {
  const before = readTimes(whole.pids());
  const { counts, failed } = await send(whole, {
    ms: SPELL_MS,
    inTurn: { kind, connections: CONNECTIONS * whole.processes },
  });
  if (failed.length > 0) throw new Error(`${kind}: ${failed.join('; ')}`);
  const count = counts[kind] ?? 0;
  const micros = (usedBetween(before, readTimes(whole.pids())) * 1000) / count;
  return { micros, perSecond: (count * 1000) / SPELL_MS };
}

function createFigure(kind: string, one: readonly Run[], two: readonly Run[]): Figure {
  const more = median(two.map(({ micros }, round) => (2 * (one[round]?.micros ?? NaN)) / micros));
  const inWords = (runs: readonly Run[]) =>
    `${median(runs.map(({ micros }) => micros)).toFixed(0)} µs, ${median(runs.map(({ perSecond }) => perSecond)).toFixed(0)}/s here`;
  return {
    what: `${kind}, PROCESSES=2, ${CONNECTIONS} connections of each process`,
    ours: inWords(two),
    baseline: `one process: ${inWords(one)}`,
    ratio: { value: more, target: TARGET },
    note: 'requests that two cores have time for, as a multiple of one, by processor time of Kiln',
  };
}

async function startWhole({ lifecycle }: BenchTools, kiln: BurstKiln, processes: number): Promise<Whole> {
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const { MEDIA_URL: _media, WORKFLOW_URL: _workflow, ...shared } = kiln.settings;
  const own = { PROCESSES: String(processes), DATA_DIR: `${kiln.folder}/${processes}`, PORT: String(port) };
  const program = await startNode('gateway/main.ts', [], {
    settings: { ...shared, ...own, CONSOLE_BUILD: 'off' },
    ready: async (printed) => (processes === 1 || printed.includes('all processes serve')) && isReady(url),
  });
  lifecycle.add('whole', () => program.end());
  return { url, processes, pids: () => withChildren(program) };
}

function withChildren({ pid }: Program): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return [pid, ...children.split(' ').filter(Boolean).map(Number)];
}
