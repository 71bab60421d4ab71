import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { graphql } from '../../../test/kit/clients/requests.ts';
import type { SandboxJob } from '../../../test/kit/processes/sandbox-process.ts';
import { temporaryFolder } from '../../../test/topology/places.ts';
import type { Bench, BenchTools, Figure } from '../bench.ts';
import { mostWithin } from './door.ts';
import { startScene, countStates, submitImages, type Scene } from './work.ts';

const AT_ONCE = 4;
const A_MINUTE = 60;
const IMAGES = 90;

/** A provider's limits with three workers: what the provider counts, and what somebody who waits is told. */
export const limits: Bench = {
  name: 'limits',
  async run(tools) {
    const scene = await startScene(tools, (url) => limited(tools, url));
    await scene.topology.sandbox.latency({ wire: 'midjourney', queuedMs: 0, runningMs: 2_000 });
    await submitImages(scene.topology, 'few', IMAGES / 2);
    await submitImages(scene.topology, 'slow', IMAGES);
    const last = {
      few: await readLast(scene, 'few'),
      slow: await readLast(scene, 'slow'),
    };
    const positions: Record<keyof typeof last, number[]> = { few: [], slow: [] };
    for (let over = false; !over; over = await isOver(scene)) {
      for (const name of ['few', 'slow'] as const) {
        // oxlint-disable-next-line eslint/no-await-in-loop -- looked at now and then
        const position = await readPosition(scene, last[name]);
        if (position !== null && position !== positions[name].at(-1)) positions[name].push(position);
      }
      // oxlint-disable-next-line eslint/no-await-in-loop
      await pause(1_000);
    }
    return [...(await counted(scene)), ...Object.entries(positions).map(([name, seen]) => told(name, seen))];
  },
};

async function limited({ lifecycle }: BenchTools, baseUrl: string): Promise<Record<string, string>> {
  const folder = await temporaryFolder();
  lifecycle.add('generators file', () => folder.remove());
  const file = path.join(folder.path, 'generators.json');
  const binding = { provider: 'midjourney', baseUrl };
  const generators = {
    few: [{ ...binding, concurrency: AT_ONCE }],
    slow: [{ ...binding, concurrency: 100, requestsPerMinute: A_MINUTE }],
  };
  await writeFile(file, JSON.stringify(generators));
  return { GENERATORS_FILE: file };
}

async function readLast({ topology }: Scene, generator: string): Promise<string> {
  const [row] = await topology.database.rows<{ id: string }>(
    `select id::text from media.tasks where generator = '${generator}' order by id desc limit 1`,
  );
  return row?.id ?? '';
}

async function isOver({ topology }: Scene): Promise<boolean> {
  const { QUEUED = 0, RUNNING = 0 } = await countStates(topology);
  return QUEUED + RUNNING === 0;
}

async function readPosition({ topology }: Scene, id: string): Promise<number | null> {
  const query = 'query ($id: ID!) { task(id: $id) { queuePosition } }';
  return (await graphql(topology.gateways[0], query, { id })).data.task.queuePosition as number | null;
}

async function counted({ topology, door }: Scene): Promise<readonly Figure[]> {
  const jobs = await topology.sandbox.jobs();
  const rows = await topology.database.rows<{ reference: string; generator: string }>(
    `select reference, generator from media.attempts attempt join media.tasks task on task.id = attempt.task_id`,
  );
  const generators = new Map(rows.map(({ reference, generator }) => [reference, generator]));
  const of = (generator: string) =>
    jobs.filter(({ reference }) => generators.get(reference ?? '') === generator);
  const refused = door.passed.filter(({ status }) => status === 429).length;
  return [
    figure(
      `jobs at once at the provider, limit ${AT_ONCE}`,
      mostAtOnce(of('few')),
      AT_ONCE,
      of('few').length,
    ),
    figure(
      `starts in any minute at the provider, limit ${A_MINUTE}`,
      mostWithin(
        of('slow').map(({ submittedAt }) => new Date(submittedAt).getTime()),
        60_000,
      ),
      A_MINUTE,
      of('slow').length,
    ),
    { what: 'answers 429', ours: String(refused), baseline: '', ratio: null, note: '' },
  ];
}

/** Never more than the limit: a ratio below 1 says that it was. */
function figure(what: string, most: number, limit: number, made: number): Figure {
  const note = `${made} made, by three workers`;
  return {
    what,
    ours: String(most),
    baseline: String(limit),
    ratio: { value: limit / most, target: 1 },
    note,
  };
}

function mostAtOnce(jobs: readonly SandboxJob[]): number {
  const time = (at: number | string | null) => (at === null ? Infinity : new Date(at).getTime());
  const spans = jobs.map(({ submittedAt, endedAt }) => ({ from: time(submittedAt), to: time(endedAt) }));
  return Math.max(
    0,
    ...spans.map(({ from }) => spans.filter((one) => one.from <= from && one.to > from).length),
  );
}

function told(name: string, seen: readonly number[]): Figure {
  const rises = seen.filter((position, index) => index > 0 && position > (seen[index - 1] ?? 0)).length;
  return {
    what: `positions of the last of "${name}"`,
    ours: `${seen[0] ?? '-'} to ${seen.at(-1) ?? '-'}`,
    baseline: '',
    ratio: null,
    note: `${seen.length} of them, ${rises} times higher than before`,
  };
}
