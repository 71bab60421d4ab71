import { Client, type ClientConfig } from 'pg';

import { rest, taskEnd } from '../../../test/kit/clients/requests.ts';
import type { Bench, BenchTools, Figure } from '../bench.ts';
import { startBenchedKiln, type BenchedKiln } from '../kiln.ts';
import { startProgram } from '../processes.ts';
import { measureInTurns, computeRatio, servedSubject, formatFigures } from '../rounds.ts';

/**
 * Kiln's status of a finished task against bare node:http servers: one that reads the same row, and one that reads the task's files as well,
 * which Kiln's answer lists.
 */
export const restStatus: Bench = {
  name: 'rest-status',
  async run(tools) {
    const kiln = await startBenchedKiln(tools);
    const { ids, images } = await finishedTasks(kiln);
    const bare = await startBareServer(tools, kiln);
    const subject = (name: string, { pid, url }: { pid: number; url: string }, prefix: string) =>
      servedSubject(tools.load, { name, pid, request: { url, paths: ids.map((one) => `${prefix}/${one}`) } });
    const rounds = await measureInTurns(tools, [
      subject('Kiln', kiln, '/api/task/status'),
      subject('bare', bare, '/task'),
      subject('bare with files', bare, '/task-with-files'),
    ]);
    const against = (baseline: string, what: string): Figure => ({
      what: `REST status of a finished task${what}`,
      ours: formatFigures(rounds, 'Kiln'),
      baseline: `bare node:http + pg: ${formatFigures(rounds, baseline)}`,
      ratio: { value: computeRatio(rounds, 'Kiln', baseline), target: 0.75 },
      note: `${ids.length} tasks, each reply with ${images} images`,
    });
    return [against('bare', ''), against('bare with files', ', of a server that reads its files, too')];
  },
};

/** Starts the server that answers with rows as they are. */
export async function startBareServer(
  { lifecycle }: BenchTools,
  { connection }: Pick<BenchedKiln, 'connection'>,
): Promise<{ readonly pid: number; readonly url: string }> {
  const program = new URL('bare-server.ts', import.meta.url);
  const bare = await startProgram<{ url: string }>(program, [connection]);
  lifecycle.add('bare server', () => bare.stop());
  return { pid: bare.pid, url: bare.ready.url };
}

/** Ids of many finished tasks with the same images, and how many those are. */
export async function finishedTasks({ url, connection }: Pick<BenchedKiln, 'url' | 'connection'>): Promise<{
  readonly ids: readonly string[];
  readonly images: string;
}> {
  const body = { task_type: 'tea', prompt: 'a teapot on a red table' };
  const submitted = await rest(url, 'POST', '/api/task/create/task', body);
  const id = String(submitted.body.data);
  const end = await taskEnd(url, id, 120_000);
  if (end.body.status !== true) throw new Error(`the task failed: ${JSON.stringify(end.body)}`);
  return { ids: await copyTask(connection, id), images: String(end.body.data.urls.length) };
}

/** Copies a finished task with its files' rows, so that not everybody asks for the same one; answers all ids. */
async function copyTask(connection: string, id: string): Promise<readonly string[]> {
  const client = new Client(JSON.parse(connection) as ClientConfig);
  await client.connect();
  try {
    const { rows } = await client.query<{ id: string }>(COPY, [id, COPIES]);
    return rows.map((row) => row.id);
  } finally {
    await client.end();
  }
}

const COPIES = 100;

const COPY = `
  with file as (
    select copy, media.id as old, gen_random_uuid() as new
    from media.media, generate_series(1, $2) as copy where task_id = $1
  ), files as (
    insert into media.media
    select (jsonb_populate_record(media, jsonb_build_object('id', file.new))).*
    from file join media.media on media.id = file.old
  ), result as (
    select file.copy, jsonb_agg(file.new order by output.position) as ids
    from media.tasks, jsonb_array_elements_text(result -> 'mediaIds') with ordinality as output (id, position)
    join file on file.old = output.id::uuid where tasks.id = $1 group by file.copy
  )
  insert into media.tasks
  select (jsonb_populate_record(tasks, jsonb_build_object('id', gen_random_uuid(),
    'result', jsonb_set(tasks.result, '{mediaIds}', result.ids)))).*
  from media.tasks, result where tasks.id = $1
  returning id`;
