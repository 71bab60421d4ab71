import { graphql, until } from '../../../test/kit/clients/requests.ts';
import { serviceKey, temporaryDataDir } from '../../../test/kit/processes/kiln-process.ts';
import { startSandboxProcess } from '../../../test/kit/processes/sandbox-process.ts';
import type { Bench, BenchTools, Figure } from '../bench.ts';
import { startBenchedKiln, type BenchedKiln } from '../kiln.ts';
import type { LoadRequest } from '../load/load.ts';
import { formatFigures, measureInTurns, computeRatio, servedSubject } from '../rounds.ts';
import { fillWithCopies } from './fill.ts';
import { removal } from './removal.ts';

/** Finished tasks of the long history (HISTORY_TASKS), and of the short one. */
const MANY = Number(process.env['HISTORY_TASKS'] ?? 1_000_000);
const FEW = 1_000;
/** Events of each (HISTORY_EVENTS). */
const EVENTS = Number(process.env['HISTORY_EVENTS'] ?? 50);
const SUBMISSIONS = 200;
const REMOVAL_MS = 8_000;

/** Status reads, lists and submissions with a million finished tasks, against the same with a thousand. */
export const history: Bench = {
  name: 'history',
  async run(tools) {
    const [long, short] = [await startWith(tools, MANY), await startWith(tools, FEW)];
    const figures: Figure[] = [];
    for (const what of [
      'status reads over REST',
      'lists of 50 over GraphQL',
      'submissions over REST',
    ] as const) {
      const subjects = [long, short].map(({ kiln, name, ids }) =>
        servedSubject(tools.load, { name, pid: kiln.pid, request: createRequest(what, kiln, ids) }),
      );
      const rounds = await measureInTurns(tools, subjects);
      figures.push({
        what: `${what}, long history`,
        ours: formatFigures(rounds, long.name),
        baseline: `${short.name}: ${formatFigures(rounds, short.name)}`,
        ratio: { value: computeRatio(rounds, long.name, short.name), target: 0.9 },
        note: long.rows,
      });
    }
    const reads = { ...createRequest('status', long.kiln, long.ids), ms: REMOVAL_MS };
    figures.push(await removal(tools, { connection: long.kiln.connection, reads, events: EVENTS }));
    return figures;
  },
};

/** A Kiln with so many finished tasks, half of them the caller's own. */
async function startWith(tools: BenchTools, count: number) {
  const { dataDir, remove } = await temporaryDataDir();
  tools.lifecycle.add('sandbox directory', async () => remove());
  const sandbox = await startSandboxProcess(dataDir);
  tools.lifecycle.add('sandbox', () => sandbox.stop());
  const kiln = await startBenchedKiln(tools, { SANDBOX_URL: sandbox.url });
  const query = 'mutation { generateImage(input: { generator: "imga", prompt: "a teapot" }) { id } }';
  const submitted = await graphql(kiln.url, query, {}, serviceKey);
  const id = String(submitted.data.generateImage.id);
  await until(
    () => graphql(kiln.url, 'query ($id: ID!) { task(id: $id) { state } }', { id }, serviceKey),
    ({ data }) => data.task.state === 'SUCCEEDED',
    60_000,
  );
  // What is submitted from here on stays queued, so that nothing else is measured.
  await sandbox.latency({ queuedMs: 600_000 });
  tools.say(`making ${count} finished tasks of ${EVENTS} events`);
  const { ids, rows } = await fillWithCopies(kiln.connection, id, count, EVENTS);
  return { kiln, ids: [id, ...ids], rows, name: `${count} tasks` };
}

function createRequest(what: string, { url }: BenchedKiln, ids: readonly string[]): Omit<LoadRequest, 'ms'> {
  const headers = { ...serviceKey, 'content-type': 'application/json' };
  if (what.startsWith('status')) return { url, headers, paths: ids.map((id) => `/api/task/status/${id}`) };
  if (what.startsWith('lists')) {
    const query =
      '{ tasks(first: 50) { edges { node { id state progress } } pageInfo { hasNextPage endCursor } } }';
    return { url: `${url}/graphql`, method: 'POST', headers, body: JSON.stringify({ query }) };
  }
  const body = JSON.stringify({ task_type: 'tea', prompt: 'a teapot on a red table' });
  return { url: `${url}/api/task/create/task`, method: 'POST', headers, body, amount: SUBMISSIONS };
}
