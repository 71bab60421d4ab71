import { setTimeout as pause } from 'node:timers/promises';

import { graphql, rest, until } from '../../../test/kit/clients/requests.ts';
import type { Bench, Figure } from '../bench.ts';
import { mostWithin } from './door.ts';
import { startScene, countStates, submitImages, type Scene } from './work.ts';

/** Tasks, half of them submitted while the provider is away. */
const TASKS = 200;
/** Seconds that it is away (OUTAGE_SECONDS). */
const AWAY_S = Number(process.env['OUTAGE_SECONDS'] ?? 60);
const GENERATOR = 'imga';

/** A provider that refuses connections for a while, under work: what comes of that, and how it is met when it is back. */
export const outage: Bench = {
  name: 'outage',
  async run(tools) {
    const scene = await startScene(tools, async (url) => ({ MIDJOURNEY_BASE_URL: url }));
    const { topology, door } = scene;
    await topology.sandbox.latency({ wire: 'midjourney', queuedMs: 0, runningMs: 2_000 });
    await submitImages(topology, GENERATOR, TASKS / 2);
    await door.shut();
    tools.say(`the provider is away for ${AWAY_S} s`);
    const [watched = ''] = (await submitImages(topology, GENERATOR, TASKS / 2)).slice(-1);
    const seen = await watch(scene, watched);
    const passed = door.passed.length;
    await door.open();
    const back = Date.now();
    const states = await until(
      () => countStates(topology),
      ({ SUCCEEDED = 0, FAILED = 0 }) => SUCCEEDED + FAILED === TASKS,
      600_000,
      1_000,
    );
    tools.say(`all ended ${Math.round((Date.now() - back) / 1000)} s after its return`);
    return [
      {
        what: `SUCCEEDED of ${TASKS}, the provider away for ${AWAY_S} s`,
        ours: String(states['SUCCEEDED'] ?? 0),
        baseline: String(TASKS),
        ratio: { value: (states['SUCCEEDED'] ?? 0) / TASKS, target: 1 },
        note: `shown meanwhile: ${seen.join('; ')}`,
      },
      ...met(scene, passed),
      await attempted(scene),
    ];
  },
};

/** What a caller is told of a task while the provider is away, each text once, over GraphQL and REST. */
async function watch({ topology }: Scene, id: string): Promise<readonly string[]> {
  const texts = new Set<string>();
  const [one, two] = topology.gateways;
  for (const over = Date.now() + AWAY_S * 1000; Date.now() < over;) {
    // oxlint-disable-next-line eslint/no-await-in-loop -- looked at now and then
    const answer = await graphql(one, 'query ($id: ID!) { task(id: $id) { state stage } }', { id });
    texts.add(`GraphQL ${answer.data.task.state} "${general(answer.data.task.stage)}"`);
    // oxlint-disable-next-line eslint/no-await-in-loop
    const { body } = await rest(two, 'GET', `/api/task/status/${id}`);
    texts.add(`REST ${body.status} "${general(body.msg)}"`);
    // oxlint-disable-next-line eslint/no-await-in-loop
    await pause(500);
  }
  return [...texts];
}

function general(text: string): string {
  return text.replaceAll(/\d+/g, 'N');
}

function met({ door }: Scene, before: number): readonly Figure[] {
  const after = door.passed.slice(before);
  const [first] = after;
  const early = after.filter(({ at }) => at - (first?.at ?? 0) < 10_000);
  const most = (of: typeof after) =>
    mostWithin(
      of.map(({ at }) => at),
      1_000,
    );
  const note = 'of 12 slots, over three workers';
  return [
    {
      what: 'most starts in a second, in the first ten after its return',
      ours: String(most(early.filter(({ isStart }) => isStart))),
      baseline: '',
      ratio: null,
      note,
    },
    {
      what: 'most requests of any kind in a second, then',
      ours: String(most(early)),
      baseline: `later: ${most(after.filter((one) => !early.includes(one)))}`,
      ratio: null,
      note,
    },
  ];
}

async function attempted({ topology }: Scene): Promise<Figure> {
  const rows = await topology.database.rows<{ state: string; code: string | null; count: number }>(
    `select state, error->>'code' as code, count(*)::integer as count from media.attempts group by 1, 2 order by 3 desc`,
  );
  const note = rows.map(({ state, code, count }) => `${count} ${state} ${code ?? ''}`.trim()).join(', ');
  const made = rows.reduce((sum, { count }) => sum + count, 0);
  return { what: 'attempts written down', ours: String(made), baseline: `${TASKS} tasks`, ratio: null, note };
}
