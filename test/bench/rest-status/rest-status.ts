import { Client, type ClientConfig } from 'pg';

import { rest, taskEnd } from '../../kit/clients/requests.ts';
import type { Bench } from '../bench.ts';
import { startBenchedKiln, type BenchedKiln } from '../kiln.ts';
import { startProgram } from '../processes.ts';
import { measureInTurns, ratioOf, servedSubject, figuresOf } from '../rounds.ts';

/** Kiln's status of a finished task against a bare node:http server that reads the same row. */
export const restStatus: Bench = {
  name: 'rest-status',
  async run(tools) {
    const kiln = await startBenchedKiln(tools);
    const { ids, pictures } = await finishedTasks(kiln);
    const bare = await startProgram<{ url: string }>(new URL('bare-server.ts', import.meta.url), [
      kiln.connection,
    ]);
    tools.lifecycle.add('bare server', () => bare.stop());
    const servers = [
      {
        name: 'Kiln',
        pid: kiln.pid,
        request: { url: kiln.url, paths: ids.map((one) => `/api/task/status/${one}`) },
      },
      { name: 'bare', pid: bare.pid, request: { url: bare.ready.url, paths: ids.map((one) => `/${one}`) } },
    ];
    const subjects = servers.map((server) => servedSubject(tools.load, server));
    const rounds = await measureInTurns(tools, subjects);
    return [
      {
        what: 'REST status of a finished task',
        ours: figuresOf(rounds, 'Kiln'),
        baseline: `bare node:http + pg: ${figuresOf(rounds, 'bare')}`,
        ratio: { value: ratioOf(rounds, 'Kiln', 'bare'), target: 0.75 },
        note: `${ids.length} tasks, each reply with ${pictures} pictures`,
      },
    ];
  },
};

/** Ids of many finished tasks with the same pictures, and how many those are. */
export async function finishedTasks({ url, connection }: Pick<BenchedKiln, 'url' | 'connection'>): Promise<{
  readonly ids: readonly string[];
  readonly pictures: string;
}> {
  const body = { task_type: 'tea', prompt: 'a teapot on a red table' };
  const submitted = await rest(url, 'POST', '/api/task/create/task', body);
  const id = String(submitted.body.data);
  const end = await taskEnd(url, id, 120_000);
  if (end.body.status !== true) throw new Error(`the task failed: ${JSON.stringify(end.body)}`);
  return { ids: await copyTask(connection, id), pictures: String(end.body.data.urls.length) };
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
