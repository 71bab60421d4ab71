import { setTimeout } from 'node:timers/promises';

import { spawnKiln, temporaryDataDir } from '../../../test/kit/processes/kiln-process.ts';
import type { Bench, BenchTools, Figure } from '../bench.ts';
import { memoryMiB } from '../processes.ts';
import { median } from '../rounds.ts';

/** Milliseconds until a process at rest has given back what its start needed. */
const AT_REST_MS = 15_000;

/**
 * Seconds from `npm start` to the first answered GET /, with an empty data directory and with a used one, from a warm start to
 * the first answered operation, and the memory of the process (without PostgreSQL) a quarter of a minute later.
 */
export const starts: Bench = {
  name: 'starts',
  async run(tools) {
    const cold: number[] = [];
    const warm: number[] = [];
    const operations: number[] = [];
    for (let round = 1; round <= tools.rounds; round += 1) {
      const { dataDir, remove } = await temporaryDataDir();
      tools.lifecycle.add('data directory', async () => remove());
      cold.push(await startOnce(tools, dataDir));
      warm.push(await startOnce(tools, dataDir));
      operations.push(await startOnce(tools, dataDir, (url) => operation(url)));
      tools.say(`round ${round}: cold ${cold.at(-1)?.toFixed(2)} s, warm ${warm.at(-1)?.toFixed(2)} s`);
    }
    return [
      figures('cold start (empty DATA_DIR) to the first answer', cold),
      figures('warm start to the first answer', warm),
      figures('warm start to the first answered operation', operations),
      ...(await memoryAtRest(tools)),
    ];
  },
};

function figures(what: string, seconds: readonly number[]) {
  const [least, most] = [Math.min(...seconds), Math.max(...seconds)];
  const note = `from ${least.toFixed(2)} to ${most.toFixed(2)} s; npm itself included`;
  return { what, ours: `${median(seconds).toFixed(2)} s`, baseline: '', ratio: null, note };
}

async function memoryAtRest({ lifecycle }: BenchTools): Promise<readonly Figure[]> {
  const { dataDir, remove } = await temporaryDataDir();
  lifecycle.add('data directory', async () => remove());
  const kiln = spawnKiln({ dataDir, settings: { LOG_LEVEL: 'info' } });
  lifecycle.add('Kiln', () => kiln.stop());
  await fetch(await kiln.ready);
  await setTimeout(AT_REST_MS);
  const resident = memoryMiB(kiln.pid);
  await kiln.stop();
  const what = 'resident memory at rest, all in one process';
  const note = 'MiB, without PostgreSQL; null where the system does not tell';
  return resident === null
    ? []
    : [{ what, ours: `${Math.round(resident)} MiB`, baseline: '', ratio: null, note }];
}

/** One that is planned: the planner of Kiln's own supergraph is made when first needed. */
function operation(url: string): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(`${url}/graphql`, { method: 'POST', headers, body: '{"query":"{ models { id } }"}' });
}

async function startOnce(
  { lifecycle }: BenchTools,
  dataDir: string,
  ask: (url: string) => Promise<Response> = fetch,
): Promise<number> {
  const startedAt = performance.now();
  const kiln = spawnKiln({ dataDir, by: 'npm', settings: { LOG_LEVEL: 'info' } });
  lifecycle.add('Kiln', () => kiln.stop());
  const answer = await ask(await kiln.ready);
  await answer.arrayBuffer();
  const seconds = (performance.now() - startedAt) / 1000;
  if (!answer.ok) throw new Error(`it answered ${answer.status}`);
  await kiln.stop();
  return seconds;
}
