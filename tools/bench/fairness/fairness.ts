import { setTimeout as pause } from 'node:timers/promises';

import {
  image,
  me,
  toRegistry,
  startEngine,
  stranger,
} from '../../../subgraphs/media/tasks/testing/engine.ts';
import { testBinding, testProvider } from '../../../subgraphs/media/tasks/testing/provider.ts';
import { startUpstream } from '../../../subgraphs/media/tasks/testing/upstream.ts';
import type { Bench, BenchTools, Figure } from '../bench.ts';

/** Images of the caller who is in nobody's way (FAIRNESS_IMAGES). */
const IMAGES = Number(process.env['FAIRNESS_IMAGES'] ?? 5_000);
/** Time that storing a result takes, in milliseconds. */
const STORE_MS = 50;
const SAMPLES = 5;
const IDLE_WORKERS = 'with idle workers';

/** How long another caller's single task takes while one caller has thousands waiting. */
export const fairness: Bench = {
  name: 'fairness',
  async run(tools) {
    const tasks = await startTasks(tools);
    const alone = { same: await tasks.one('images'), other: await tasks.one('videos') };
    tools.say(`submitting ${IMAGES} images of one caller`);
    for (let count = 0; count < IMAGES; count += 50) {
      const work = { kind: 'IMAGE', generator: 'images', prompt: 'a fox' } as const;
      await Promise.all(Array.from({ length: 50 }, () => tasks.service.submit(me, image('', { work }))));
    }
    const before = await tasks.worked();
    const busy = { same: await tasks.one('images'), other: await tasks.one('videos') };
    const note = `${before} of the images were done before, ${await tasks.worked()} after`;
    return [
      createFigure('another caller, same binding', { alone: alone.same, busy: busy.same, note }),
      createFigure('another caller, another binding', { alone: alone.other, busy: busy.other, note }),
    ];
  },
};

async function startTasks({ lifecycle }: BenchTools) {
  const engine = await startEngine();
  lifecycle.add('engine', () => engine.stop());
  const upstream = await startUpstream();
  lifecycle.add('upstream', () => upstream.close());
  const store = engine.files.store.bind(engine.files);
  engine.files.store = async (...file) => {
    await pause(STORE_MS);
    return store(...file);
  };
  const provider = testProvider(engine.http);
  const change = { concurrency: 32, maxWaiting: 1_000_000 };
  const registry = toRegistry(
    testBinding('images#0', provider, upstream.url, change),
    testBinding('videos#0', provider, upstream.url, change),
  );
  const service = engine.service(registry);
  await engine.worker(registry);
  return {
    service,
    /** The median time of a single task of somebody else, in milliseconds. */
    async one(generator: string): Promise<number> {
      const times: number[] = [];
      while (times.length < SAMPLES) {
        const startedAt = performance.now();
        const work = { kind: 'IMAGE', generator, prompt: 'a fox' } as const;
        const { id } = await service.submit(stranger, image('', { work }));
        await engine.ended(service, id, stranger);
        times.push(performance.now() - startedAt);
      }
      return times.toSorted((one, other) => one - other)[Math.floor(SAMPLES / 2)] ?? 0;
    },
    async worked(): Promise<number> {
      const { rows } = await engine.pool.query<{ done: number }>(
        `select count(*)::int as done from media.tasks where state = 'SUCCEEDED'`,
      );
      return rows[0]?.done ?? 0;
    },
  };
}

function createFigure(
  what: string,
  { alone, busy, note }: { readonly alone: number; readonly busy: number; readonly note: string },
): Figure {
  return {
    what: `${what}, beside ${IMAGES} images`,
    ours: `${Math.round(busy)} ms`,
    baseline: `${IDLE_WORKERS}: ${Math.round(alone)} ms`,
    // At most 2 s more than alone.
    ratio: { value: (alone + 2_000) / busy, target: 1 },
    note,
  };
}
