import { writeFile } from 'node:fs/promises';
import path from 'node:path';

import { Client } from 'pg';

import { rest, taskEnd } from '../../../test/kit/clients/requests.ts';
import { freePorts } from '../../../test/kit/processes/free-ports.ts';
import { serviceKey } from '../../../test/kit/processes/kiln-process.ts';
import type { Bench, BenchTools, Figure } from '../bench.ts';
import { type BurstKiln, startBurstKiln } from '../burst/split.ts';
import { startWhole, type Whole } from '../cores/cores.ts';
import type { Kind, Sent, TrafficOrder } from '../model/traffic.ts';
import { startProgram } from '../processes.ts';
import { median } from '../rounds.ts';
import { readTimes, usedBetween } from '../split/processor-time.ts';
import { KEY_HASH } from '../split/world.ts';

/**
 * What cells cost: the same reads at a Kiln that knows of no cells, at a cell that has the task, and at one that passes the request on
 * to it; processor time of all cells that take part, without PostgreSQL.
 */
export const cells: Bench = {
  name: 'cells',
  async run(tools) {
    const kiln = await startBurstKiln(tools, { SERVICE_KEYS: `tests=${KEY_HASH}`, DATABASE_POOL: '10' });
    await kiln.sandbox.latency({ queuedMs: 0, runningMs: 0 });
    for (const part of [kiln.gateway, kiln.media, kiln.workflow, kiln.worker]) await part.end();
    const { alone, first, second } = await startCells(tools, kiln);
    const [idsAlone, idsFirst, idsSecond] = [
      await finishedIds(alone.url),
      await finishedIds(first.url),
      await finishedIds(second.url),
    ];
    const subjects: readonly Subject[] = [
      { name: 'no cells', asked: alone, counted: [alone], ids: idsAlone },
      { name: 'at its cell', asked: first, counted: [first], ids: idsFirst },
      { name: 'through another cell', asked: first, counted: [first, second], ids: idsSecond },
    ];
    const sender = await startProgram(new URL('../model/traffic.ts', import.meta.url));
    tools.lifecycle.add('traffic', () => sender.stop());
    const figures: Figure[] = [];
    for (const kind of ['status', 'read'] as const) {
      const found: number[][] = subjects.map(() => []);
      for (let round = 0; round <= tools.rounds; round += 1)
        for (const [index, subject] of subjects.entries()) {
          const micros = await measure(subject, kind, (order) => sender.ask<Sent>(order));
          if (round > 0) found[index]?.push(micros);
        }
      figures.push(...createFigures(kind, subjects, found));
    }
    return figures;
  },
};

const TASKS = 20;
const SPELL_MS = 3_000;
const CONNECTIONS = 16;

interface Subject {
  readonly name: string;
  readonly asked: Whole;
  readonly counted: readonly Whole[];
  readonly ids: readonly string[];
}

/** A Kiln without cells, and two cells of which the first signs callers in; each has a database of its own. */
async function startCells(tools: BenchTools, kiln: BurstKiln) {
  const [one = 0, two = 0] = await freePorts(2);
  const file = path.join(kiln.folder, 'cells.json');
  const addresses = { 0: `http://127.0.0.1:${one}`, 1: `http://127.0.0.1:${two}` };
  await writeFile(file, JSON.stringify({ home: 0, cells: addresses }));
  const start = async (name: string, settings: Readonly<Record<string, string>>): Promise<Whole> => {
    const client = new Client(kiln.config);
    await client.connect();
    await client.query(`create database ${name}`);
    await client.end();
    const url = new URL(kiln.settings['DATABASE_URL']?.replace('@/', '@localhost/') ?? '');
    const address = `postgresql://${url.username}@/${name}${url.search}`;
    return startWhole(tools, kiln, {
      ...settings,
      DATABASE_URL: address,
      DATA_DIR: `${kiln.folder}/${name}`,
    });
  };
  return {
    alone: await start('alone', {}),
    first: await start('first', { CELL: '0', CELLS_FILE: file, PORT: String(one) }),
    second: await start('second', { CELL: '1', CELLS_FILE: file, PORT: String(two) }),
  };
}

async function finishedIds(url: string): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let number = 0; number < TASKS; number += 1) {
    const body = { task_type: 'tea', prompt: 'a teapot on a red table' };
    const submitted = await rest(url, 'POST', '/api/task/create/task', body, serviceKey);
    ids.push(String(submitted.body.data));
  }
  for (const id of ids) await taskEnd(url, id, 120_000);
  return ids;
}

async function measure(
  { name, asked, counted, ids }: Subject,
  kind: Kind,
  send: (order: TrafficOrder) => Promise<Sent>,
): Promise<number> {
  const pids = () => counted.flatMap((whole) => whole.pids());
  const before = readTimes(pids());
  const inTurn = { kind, connections: CONNECTIONS };
  const { counts, failed } = await send({
    url: asked.url,
    ms: SPELL_MS,
    rates: {},
    inTurn,
    ids,
    headers: serviceKey,
  });
  if (failed.length > 0) throw new Error(`${kind}, ${name}: ${failed.join('; ')}`);
  return (usedBetween(before, readTimes(pids())) * 1000) / (counts[kind] ?? 0);
}

function createFigures(
  kind: Kind,
  subjects: readonly Subject[],
  found: readonly (readonly number[])[],
): Figure[] {
  const [baseline = [], ...others] = found;
  return others.map((runs, index) => {
    const multiples = runs.map((micros, round) => micros / (baseline[round] ?? NaN));
    return {
      what: `${kind}, ${subjects[index + 1]?.name ?? ''}, ${CONNECTIONS} connections`,
      ours: `${median(runs).toFixed(0)} µs`,
      baseline: `without cells: ${median(baseline).toFixed(0)} µs`,
      ratio: null,
      note: `${median(multiples).toFixed(2)} times, rounds ${multiples.map((value) => value.toFixed(2)).join(', ')}`,
    };
  });
}
