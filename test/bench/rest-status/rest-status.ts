import { rest, taskEnd } from '../../kit/requests.ts';
import type { Bench } from '../bench.ts';
import { startBenchedKiln } from '../kiln.ts';
import { startProgram } from '../processes.ts';
import { measureInTurns, ratioOf, toldOf } from '../rounds.ts';

/** Kiln's status of a finished task against a bare node:http server that reads the same row. */
export const restStatus: Bench = {
  name: 'rest-status',
  async run(workshop) {
    const kiln = await startBenchedKiln(workshop);
    const body = { task_type: 'tea', prompt: 'a teapot on a red table' };
    const submitted = await rest(kiln.url, 'POST', '/api/task/create/task', body);
    const id = String(submitted.body.data);
    const end = await taskEnd(kiln.url, id, 120_000);
    if (end.body.status !== true) throw new Error(`the task failed: ${JSON.stringify(end.body)}`);
    const bare = await startProgram<{ url: string }>(new URL('bare-server.ts', import.meta.url), [
      kiln.connection,
    ]);
    workshop.lifecycle.add('bare server', () => bare.stop());
    const rounds = await measureInTurns(workshop, [
      { name: 'Kiln', pid: kiln.pid, request: { url: `${kiln.url}/api/task/status/${id}` } },
      { name: 'bare', pid: bare.pid, request: { url: `${bare.ready.url}/${id}` } },
    ]);
    const pictures = String(end.body.data.urls.length);
    return [
      {
        what: 'REST status of a finished task',
        ours: toldOf(rounds, 'Kiln'),
        baseline: `bare node:http + pg: ${toldOf(rounds, 'bare')}`,
        ratio: { value: ratioOf(rounds, 'Kiln', 'bare'), target: 0.4 },
        note: `the reply names ${pictures} pictures`,
      },
    ];
  },
};
