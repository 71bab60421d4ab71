import { getEventListeners } from 'node:events';

import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { newId } from '../../../../platform/ids.ts';
import { silentLogger } from '../../../../platform/process/logger.ts';
import { appendEvents, type NewEvent } from '../storage/event-store.ts';
import { createTransactor } from '../storage/transactor.ts';
import { startEngine, type TestEngine, until } from '../testing/engine.ts';
import { createEventHub, type EventHub } from './event-hub.ts';
import { createOwnerTaskFeed, type OwnerTaskFeed, type PlacedEvent } from './owner-task-feed.ts';

/** All tasks of an owner as one stream, over breaks of it. */

let engine: TestEngine;
let hub: EventHub;
let owned: OwnerTaskFeed;
beforeAll(async () => {
  engine = await startEngine();
  hub = createEventHub(engine);
  owned = createOwnerTaskFeed({ database: engine.database, hub, logger: silentLogger() });
});
afterAll(async () => {
  hub.close();
  await engine.stop();
});

const it = test.extend('owner', () => `usr_${newId()}`);

/** Open tasks, each with the first entry of its log, accepted at a moment, the oldest first. */
async function openTasks(owner: string, count: number, acceptedAt = Date.now()): Promise<readonly string[]> {
  const time = acceptedAt.toString(16).padStart(12, '0');
  const ids = Array.from(
    { length: count },
    () => `${time.slice(0, 8)}-${time.slice(8)}${newId().slice(13)}`,
  ).toSorted();
  await engine.pool.query(
    `with made as (
      insert into media.tasks (id, owner, kind, generator, input, state, stage, last_seq)
      select id, $2, 'IMAGE', 'test', '{"kind":"IMAGE"}', 'QUEUED', 'in line', 1 from unnest($1::uuid[]) as id
      returning id)
     insert into media.task_events (task_id, seq, state, stage, progress, progress_estimated, at)
     select id, 1, 'QUEUED', 'in line', 0, false, now() from made`,
    [ids, owner],
  );
  return ids;
}

const say = (taskId: string, progress: number, state = 'RUNNING') =>
  createTransactor(engine).append([{ taskId, progress, state } as NewEvent]);

const end = (ids: readonly string[]) =>
  appendEvents(
    engine.database,
    ids.map((taskId) => ({ taskId, state: 'SUCCEEDED', progress: 100 })),
  );

interface Watched {
  readonly seen: PlacedEvent[];
  leave(): Promise<void>;
}

async function watch(
  owner: string,
  after: string | null = null,
  signal = new AbortController().signal,
): Promise<Watched> {
  const beginning = { after, endedSince: null, since: null };
  const stream = await owned.watch({ owner, signal, isPlaced: true, ...beginning });
  const seen: PlacedEvent[] = [];
  const over = (async () => {
    for await (const event of stream) seen.push(event);
  })();
  return {
    seen,
    async leave() {
      await stream.return?.();
      await over;
    },
  };
}

const reaches = (seen: readonly PlacedEvent[], count: number) =>
  until(() => Promise.resolve(seen.length >= count));

const entries = (seen: readonly PlacedEvent[], ids: readonly string[]) =>
  seen.map(({ taskId, seq }) => `${ids.indexOf(taskId)}/${seq}`).toSorted();

// At the same time: they wait for what is looked for once a second.
it.concurrent('goes on after any of its entries, without a gap and without one twice', async ({ owner }) => {
  const [first = '', second = ''] = await openTasks(owner, 2);
  const began = await watch(owner);
  await reaches(began.seen, 2);
  for (let step = 1; step <= 8; step += 1) await say(first, step * 10);
  await say(second, 50);
  await end([first]);
  const [third = ''] = await openTasks(owner, 1);
  await reaches(began.seen, 13);
  await began.leave();
  const ids = [first, second, third];
  const all = entries(began.seen, ids);
  expect(new Set(all).size).toBe(13);
  await end([second, third]);
  for (const [index, { cursor }] of began.seen.entries()) {
    const rest = await watch(owner, cursor);
    await reaches(rest.seen, 13 - index - 1 + 2);
    await rest.leave();
    const whole = entries([...began.seen.slice(0, index + 1), ...rest.seen], ids);
    expect(whole).toEqual([...all, '1/3', '2/2'].toSorted());
  }
});

it.concurrent('does not begin anew with what had ended when it began', async ({ owner }) => {
  const [older = '', over = ''] = await openTasks(owner, 2, Date.now() - 30_000);
  await end([older]);
  const [recent = ''] = await openTasks(owner, 1);
  await end([recent]);
  const [open = ''] = await openTasks(owner, 1);
  const began = await watch(owner);
  await reaches(began.seen, 2);
  await end([over]);
  await reaches(began.seen, 3);
  await began.leave();
  await end([open]);
  const rest = await watch(owner, began.seen.at(-1)?.cursor);
  await reaches(rest.seen, 1);
  expect(entries(rest.seen, [older, over, recent, open])).toEqual(['3/2']);
  await rest.leave();
});

it.concurrent('follows a thousand at once, others once some have ended, and none of them twice', async ({
  owner,
}) => {
  const ids = await openTasks(owner, 1_005);
  const began = await watch(owner);
  await reaches(began.seen, 1_000);
  await end(ids.slice(500, 510));
  await reaches(began.seen, 1_000 + 10 + 5);
  await end(ids.filter((_, index) => index < 500 || index >= 510));
  await reaches(began.seen, 2_010);
  expect(new Set(entries(began.seen, ids)).size).toBe(2_010);
  expect(began.seen).toHaveLength(2_010);
  await began.leave();
});

it('looks for new tasks only while somebody follows', async ({ owner }) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const [one, other] = [await watch(owner), await watch(owner)];
    expect(vi.getTimerCount()).toBe(1);
    await one.leave();
    expect(vi.getTimerCount()).toBe(1);
    await other.leave();
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

it('looks once at a time, however long that takes', async ({ owner }) => {
  const looked = Promise.withResolvers<void>();
  let looks = 0;
  let isHeld = false;
  const database = engine.database.withPlugin({
    transformQuery({ node }) {
      if (isHeld && JSON.stringify(node).includes('tasks.open-of-owners')) looks += 1;
      return node;
    },
    async transformResult({ result }) {
      if (isHeld) await looked.promise;
      return result;
    },
  });
  const feed = createOwnerTaskFeed({ database, hub, logger: silentLogger() });
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const beginning = { after: null, endedSince: null, since: null };
    const { signal } = new AbortController();
    const stream = await feed.watch({ owner, signal, isPlaced: false, ...beginning });
    isHeld = true;
    vi.advanceTimersByTime(3_000);
    await until(async () => looks > 0);
    expect(looks).toBe(1);
    looked.resolve();
    await stream.return?.();
  } finally {
    vi.useRealTimers();
  }
});

it('reads what a cursor names to its end, also when that was long before it was made', async ({ owner }) => {
  const [slow = ''] = await openTasks(owner, 1, Date.now() - 3_600_000);
  const began = await watch(owner);
  await reaches(began.seen, 1);
  await began.leave();
  await end([slow]);
  await engine.pool.query(`update media.tasks set ended_at = now() - interval '5 minutes' where id = $1`, [
    slow,
  ]);
  const rest = await watch(owner, began.seen[0]?.cursor);
  await reaches(rest.seen, 1);
  expect(entries(rest.seen, [slow])).toEqual(['0/2']);
  await rest.leave();
});

it('shows what began and ended while nobody listened', async ({ owner }) => {
  const [known = ''] = await openTasks(owner, 1);
  const began = await watch(owner);
  await reaches(began.seen, 1);
  await began.leave();
  const [missed = ''] = await openTasks(owner, 1);
  await end([known, missed]);
  const rest = await watch(owner, began.seen.at(-1)?.cursor);
  await reaches(rest.seen, 3);
  expect(entries(rest.seen, [known, missed])).toEqual(['0/2', '1/1', '1/2']);
  await rest.leave();
});

it('loses nothing where more tasks are followed than a cursor lists', async ({ owner }) => {
  const ids = await openTasks(owner, 400);
  const began = await watch(owner);
  await reaches(began.seen, 400);
  await began.leave();
  for (const at of [100, 250, 399]) {
    const rest = await watch(owner, began.seen[at]?.cursor);
    const expected = entries(began.seen.slice(at + 1), ids);
    await until(() => {
      const found = new Set(entries(rest.seen, ids));
      return Promise.resolve(expected.every((entry) => found.has(entry)));
    });
    await rest.leave();
    expect(rest.seen.length).toBeLessThanOrEqual(ids.length);
  }
  await end(ids);
});

it('leaves no listener behind, however it ends', async ({ owner }) => {
  const [id = ''] = await openTasks(owner, 1);
  const leaving = new AbortController();
  const streams = [await watch(owner, null, leaving.signal), await watch(owner, null, leaving.signal)];
  for (const { seen } of streams) await reaches(seen, 1);
  await streams[0]?.leave();
  expect(getEventListeners(leaving.signal, 'abort')).toHaveLength(1);
  leaving.abort();
  expect(getEventListeners(leaving.signal, 'abort')).toHaveLength(0);
  expect(hub.subscriberCount()).toBe(0);
  await end([id]);
});

it('is refused with what is no cursor', async ({ owner }) => {
  await expect(watch(owner, '7')).rejects.toMatchObject({ code: 'BAD_USER_INPUT', field: 'after' });
});
