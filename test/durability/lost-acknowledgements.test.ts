import { expect, test } from 'vitest';

import { internalCaller } from '../../platform/access/caller.ts';
import { newId } from '../../platform/ids.ts';
import { createChunkWriter } from '../../subgraphs/media/chat/chunk-writer.ts';
import { createChatStore } from '../../subgraphs/media/chat/store.ts';
import { hashTaskId } from '../../subgraphs/media/domain/attempt.ts';
import type { Provider } from '../../subgraphs/media/providers/contract/provider.ts';
import {
  image,
  toRegistry,
  startEngine,
  type TestEngine,
  until,
} from '../../subgraphs/media/tasks/testing/engine.ts';
import { testBinding, testProvider } from '../../subgraphs/media/tasks/testing/provider.ts';
import { PNG, startUpstream, type Upstream } from '../../subgraphs/media/tasks/testing/upstream.ts';
import { startLossyRelay, type LossyRelay } from '../kit/database/lossy-relay.ts';
import { migratedDatabase } from '../kit/database/migrated.ts';
import { extent, isWhole, takeSample } from '../kit/extent.ts';

/**
 * What a statement has done is committed, and its acknowledgement never comes: whoever tries again must change nothing more. Each
 * statement of a task's life once; those that are new are found by themselves. In `npm test` one of five of them, and each
 * kind of work loses others.
 */

/** The statements whose acknowledgements one of the kinds of work loses. */
const taken = new Set<string>();

interface World {
  readonly relay: LossyRelay;
  readonly engine: TestEngine;
  readonly upstream: Upstream;
}

/** Each test has a database of its own: most of their time they wait for what recovers. */
const it = test.extend<{ world: World }>({
  // oxlint-disable-next-line eslint/no-empty-pattern -- Vitest reads the pattern
  world: async ({}, use) => {
    const home = await migratedDatabase();
    const relay = await startLossyRelay(home);
    const engine = await startEngine({ connectionString: relay.url });
    const upstream = await startUpstream();
    await use({ relay, engine, upstream });
    await engine.stop();
    relay.stop();
    await home.drop();
    await upstream.close();
  },
});

const caller = internalCaller('test');
/** Work that is answered on the spot: nobody can be asked for it again. */
function onTheSpot(calls: string[]): Provider {
  const call = async (_: unknown, { reference }: { readonly reference: string }) => {
    calls.push(reference);
    return { files: [{ content: PNG, contentType: 'image/png' }], texts: [] };
  };
  return { name: 'call', calls: { IMAGE: { call } } };
}

it.concurrent.for(['test', 'call'])(
  'at every statement of the work of %s, ends it once',
  { timeout: 600_000 },
  async (generator, { world: { relay, engine, upstream } }) => {
    const calls: string[] = [];
    const registry = toRegistry(
      testBinding('test#0', testProvider(engine.http), upstream.url),
      testBinding('call#0', onTheSpot(calls), upstream.url),
    );
    const service = engine.service(registry);
    await engine.queue.define('test.ended');
    await engine.worker(registry);
    const ended: string[] = [];
    /** Runs one task to its end; its submission is repeated as a client repeats it. */
    async function run(): Promise<void> {
      const id = newId();
      const work = { kind: 'IMAGE', generator, prompt: 'a fox' } as const;
      const start = () => service.start({ ...image('', { work }), id, owner: 'usr_me', onEnd: 'test.ended' });
      // What is to be lost for the next task may be lost for this one, whose client then asks once more.
      await start().catch(start).catch(start).catch(start);
      const task = await until(async () => {
        const [read] = await service.readMany(caller, [id]).catch(() => []);
        return read?.endedAt ? read : null;
      });
      expect(task).toMatchObject({ state: 'SUCCEEDED', error: null });
      ended.push(id);
    }
    // With what the worker sends at its start.
    await run();
    const lost: string[] = [];
    const runs: Promise<void>[] = [];
    // Those of one run: what recovers sends others.
    const sent = await relay.sentDuring(run);
    const names = takeSample(
      [...sent].filter((name) => isWhole || !taken.has(name)),
      5,
    );
    for (const name of names) taken.add(name);
    for (const name of names) {
      relay.loseNext(name);
      let isOver = false;
      const ended = run()
        .catch((error: unknown) => {
          throw new Error(`without the acknowledgement of ${name}`, { cause: error });
        })
        .finally(() => (isOver = true));
      runs.push(ended);
      ended.catch(() => undefined);
      // The next one begins while this one recovers.
      await until(async () => relay.hasLost() || isOver);
      if (!relay.hasLost()) continue;
      lost.push(name);
    }
    await Promise.all(runs);
    // What is written together by chance is not sent by itself: how many are lost differs a little.
    expect(lost.length).toBeGreaterThan(extent(2, 20));
    relay.loseNext('');
    const sends = [...upstream.starts, ...calls].filter((reference) =>
      ended.some((id) => reference.startsWith(hashTaskId(id))),
    );
    expect(sends).toHaveLength(ended.length);
    const { rows } = await engine.pool.query(
      `select task.id from media.tasks task where last_seq <> (select count(*) from media.task_events where task_id = task.id)
      or 1 <> (select count(*) from queue.jobs where queue = 'test.ended' and data->>'taskId' = task.id::text)
      or 1 <> (select count(*) from media.task_events event where task_id = task.id and event.state = 'SUCCEEDED')`,
    );
    expect(rows).toEqual([]);
  },
);

it.concurrent('at a chunk of a chat, writes it once', async ({ world: { relay, engine } }) => {
  const store = createChatStore(engine.database);
  const id = (await store.begin({ owner: 'usr_me', key: 'k', fingerprint: 'f' })) ?? '';
  const onLost = (error: Error) => {
    throw error;
  };
  const writer = createChunkWriter({ id, store, bus: engine.bus, onLost });
  relay.loseNext('chat.append');
  writer.add('Hello ');
  await until(async () => relay.hasLost());
  writer.add('world');
  await writer.finish();
  writer.close();
  expect((await store.chunks(id, 0, 10)).join('')).toBe('Hello world');
});

it.concurrent('at the declaration of a queue, declares it', async ({ world: { relay, engine } }) => {
  const before = new Set(relay.sent);
  await engine.queue.define('first.one');
  const names = [...relay.sent].filter((name) => !before.has(name));
  expect(names.length).toBeGreaterThan(0);
  for (const [index, name] of names.entries()) {
    relay.loseNext(name);
    await engine.queue.define(`another.${index}`);
    expect([relay.hasLost(), await engine.queue.isDefined(`another.${index}`)]).toEqual([true, true]);
  }
});
