import { once } from 'node:events';
import { Writable } from 'node:stream';

import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { migratedDatabase } from '../../test/kit/database/migrated.ts';
import type { TestDatabase } from '../../test/kit/database/postgres.ts';
import { createDatabase, type Database } from '../database/database.ts';
import type { EventBus } from '../events/event-bus.ts';
import { createEventBus } from '../events/postgres/postgres-event-bus.ts';
import { newId } from '../ids.ts';
import type { Json } from '../json.ts';
import { createLogger } from '../process/logger.ts';
import { createQueue } from './postgres-queue.ts';
import type { Job, NewJob, Queue } from './queue.ts';

const WAIT = { timeout: 100_000, interval: 50 };

interface Member {
  readonly name: string;
  readonly database: Database;
  readonly bus: EventBus;
  readonly queue: Queue;
  readonly log: Record<string, unknown>[];
}

let home: TestDatabase;
let main: Member;
const members: Member[] = [];

beforeAll(async () => {
  home = await migratedDatabase();
  main = await join('main');
  await main.database.pool.query('create table released (id uuid primary key)');
});
afterAll(async () => {
  for (const { queue, bus, database } of members) {
    await queue.stop(0);
    await bus.close();
    await database.close();
  }
  await home.drop();
});

/** A queue as another process would have it: its own pool, bus and claims. */
async function join(name: string): Promise<Member> {
  const log: Record<string, unknown>[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      log.push(JSON.parse(chunk.toString()) as Record<string, unknown>);
      done();
    },
  });
  const logger = createLogger({ level: 'warn', destination: sink });
  const database = createDatabase({ config: home.config, maxConnections: 4, applicationName: name, logger });
  const bus = await createEventBus({ database, logger });
  const member = { name, database, bus, queue: await createQueue({ database, bus, logger }), log };
  members.push(member);
  return member;
}

async function enqueue({ database, queue }: Member, job: NewJob): Promise<void> {
  await database
    .typed()
    .transaction()
    .execute((transaction) => queue.enqueue(transaction, job));
  queue.wake(job.queue);
}

async function readState(id: string): Promise<string | undefined> {
  const { rows } = await main.database.pool.query<{ state: string }>(
    'select state from queue.jobs where id = $1',
    [id],
  );
  return rows[0]?.state;
}

// At the same time, each at queues of its own: most of their time they wait for the next look.
test.concurrent('a job lives and dies with the transaction it is enqueued in', async ({ expect }) => {
  await main.queue.define('transactional');
  const ran: unknown[] = [];
  await main.queue.work('transactional', { slots: 2 }, async ({ data }) => void ran.push(data));
  const rolledBack = main.database
    .typed()
    .transaction()
    .execute(async (transaction) => {
      await main.queue.enqueue(transaction, { queue: 'transactional', data: 'never' });
      throw new Error('changed my mind');
    });
  await expect(rolledBack).rejects.toThrow('changed my mind');
  await enqueue(main, { queue: 'transactional', data: { deep: [1, null] } });
  await enqueue(main, { queue: 'transactional', data: null });
  await expect.poll(() => ran, WAIT).toHaveLength(2);
  expect(ran).toEqual(expect.arrayContaining([{ deep: [1, null] }, null]));
});

test.concurrent('what enqueues a job can be part of another statement', async () => {
  await main.queue.define('within');
  const data = { made: 'with a row' };
  const { text, jobs } = await main.queue.enqueueing({ queue: 'within', data });
  const { pool } = main.database;
  await pool.query(text, ['[]']);
  expect(await main.queue.withoutJob('within', [data])).toEqual([data]);
  await pool.query(text, [jobs]);
  expect(await main.queue.withoutJob('within', [data])).toEqual([]);
});

test.concurrent('jobs of several queues are enqueued together, or none of them', async ({ expect }) => {
  await main.queue.define('together-one');
  await main.queue.define('together-other');
  const jobs = [
    { queue: 'together-one', data: 1 },
    { queue: 'together-other', data: 2 },
    { queue: 'together-one', data: 3 },
  ];
  const inTransaction = (fails: boolean) =>
    main.database
      .typed()
      .transaction()
      .execute(async (transaction) => {
        await main.queue.enqueue(transaction, ...jobs);
        if (fails) throw new Error('changed my mind');
      });
  await expect(inTransaction(true)).rejects.toThrow('changed my mind');
  await inTransaction(false);
  const ran: number[] = [];
  const remember = async ({ data }: { data: unknown }) => void ran.push(Number(data));
  await main.queue.work('together-one', { slots: 5 }, remember);
  await main.queue.work('together-other', { slots: 5 }, remember);
  await expect.poll(() => ran.toSorted((one, other) => one - other), WAIT).toEqual([1, 2, 3]);
});

test.concurrent('a job for a queue that nobody has declared is refused with its transaction', async () => {
  const missing = { queue: 'missing', data: null };
  const wrong = enqueue(main, missing);
  await expect(wrong).rejects.toMatchObject({
    code: 'INTERNAL',
    message: expect.stringContaining('missing'),
  });
  await expect(main.queue.enqueueing(missing)).rejects.toMatchObject({ code: 'INTERNAL' });
  expect(await main.queue.isDefined('missing')).toBe(false);
  // Declared by another process meanwhile.
  const other = await join('declares');
  await other.queue.define('missing');
  await enqueue(main, missing);
  expect(await main.queue.withoutJob('missing', [null])).toEqual([]);
});

test.concurrent('says which data no waiting or running job has, whatever became of ended ones', async ({
  expect,
}) => {
  await main.queue.define('lost', { retryLimit: 0 });
  const datas = [{ id: 'done' }, { id: 'failed' }, { id: 'running', step: 1 }, { id: 'never' }];
  const [waiting, done, failed] = [newId(), newId(), newId()];
  const { promise: hangs, resolve: release } = Promise.withResolvers<void>();
  const worker = await main.queue.work('lost', { slots: 5 }, async ({ data }) => {
    const { id } = data as { id: string };
    if (id === 'failed') throw new Error('for good');
    if (id === 'running') await hangs;
  });
  await enqueue(main, { queue: 'lost', id: done, data: { id: 'done' } });
  await enqueue(main, { queue: 'lost', id: failed, data: { id: 'failed' } });
  await enqueue(main, { queue: 'lost', id: waiting, data: { step: 1, id: 'running' } });
  await enqueue(main, { queue: 'lost', data: { id: 'later' }, startAfterSeconds: 60 });
  await expect.poll(() => readState(done), WAIT).toBe('completed');
  await expect.poll(() => readState(failed), WAIT).toBe('failed');
  await expect.poll(() => readState(waiting), WAIT).toBe('active');
  expect(await main.queue.withoutJob('lost', [...datas, { id: 'later' }])).toEqual([
    { id: 'done' },
    { id: 'failed' },
    { id: 'never' },
  ]);
  expect(await main.queue.withoutJob('lost', [])).toEqual([]);
  release();
  await worker.stop(1);
});

test.concurrent('the same id is enqueued once', async ({ expect }) => {
  await main.queue.define('once');
  const ran: string[] = [];
  await main.queue.work('once', { slots: 5 }, async ({ id }) => void ran.push(id));
  const [id, last] = [newId(), newId()];
  await enqueue(main, { queue: 'once', id, data: 1 });
  await enqueue(main, { queue: 'once', id, data: 2 });
  await expect.poll(() => readState(id), WAIT).toBe('completed');
  await enqueue(main, { queue: 'once', id, data: 3 });
  await enqueue(main, { queue: 'once', id: last, data: 4 });
  await expect.poll(() => readState(last), WAIT).toBe('completed');
  expect(ran).toEqual([id, last]);
});

test.concurrent('a backlog is drained by the slots, never more at once', async ({ expect }) => {
  await main.queue.define('backlog');
  const jobs = Array.from({ length: 1000 }, (_, data) => ({ queue: 'backlog', data }));
  await main.database
    .typed()
    .transaction()
    .execute(async (transaction) => {
      for (const job of jobs) await main.queue.enqueue(transaction, job);
    });
  let running = 0;
  let most = 0;
  const seen = new Set<unknown>();
  await main.queue.work('backlog', { slots: 20 }, async ({ data }) => {
    most = Math.max(most, (running += 1));
    await new Promise((resolve) => setTimeout(resolve, 1));
    running -= 1;
    seen.add(data);
  });
  await expect.poll(() => seen.size, WAIT).toBe(1000);
  expect(most).toBeLessThanOrEqual(20);
  expect(most).toBeGreaterThan(1);
});

test.concurrent('a job that fails is tried again with its retry count, then given up and logged as an error', async ({
  expect,
}) => {
  await main.queue.define('failing', { retryLimit: 2, retryDelaySeconds: 0 });
  const tries: number[] = [];
  await main.queue.work('failing', { slots: 1 }, async ({ retryCount }) => {
    tries.push(retryCount);
    throw new Error('broken on purpose');
  });
  const id = newId();
  await enqueue(main, { queue: 'failing', id, data: null });
  await expect.poll(() => readState(id), WAIT).toBe('failed');
  expect(tries).toEqual([0, 1, 2]);
  const lines = main.log.filter(({ queue }) => queue === 'failing');
  expect(lines.map(({ level }) => level)).toEqual([40, 40, 50]);
  expect(lines.at(-1)).toMatchObject({
    job: `${id.slice(0, 18)}-...`,
    error: { message: 'broken on purpose' },
  });
  const { rows } = await main.database.pool.query('select error from queue.jobs where id = $1', [id]);
  expect(rows).toEqual([{ error: 'broken on purpose' }]);
});

test.concurrent('a job that has ended does not tell any more whose turn it was', async ({ expect }) => {
  await main.queue.define('of-persons', { retryLimit: 0 });
  const ids = { completed: newId(), failed: newId() };
  await main.queue.work('of-persons', { slots: 1 }, async ({ data }) => {
    if (data === 'failed') throw new Error('broken on purpose');
  });
  for (const [data, id] of Object.entries(ids)) {
    await enqueue(main, { queue: 'of-persons', id, data, owner: 'a-person' });
  }
  for (const [state, id] of Object.entries(ids)) await expect.poll(() => readState(id), WAIT).toBe(state);
  const { rows } = await main.database.pool.query(
    `select state, owner from queue.jobs where queue = 'of-persons' order by state`,
  );
  expect(rows).toEqual([
    { state: 'completed', owner: '-' },
    { state: 'failed', owner: '-' },
  ]);
});

test.concurrent('a job may come back later, with other data, without using up a retry', async ({
  expect,
}) => {
  await main.queue.define('again', { retryLimit: 0 });
  const seen: unknown[] = [];
  const id = newId();
  await main.queue.work('again', { slots: 1 }, async ({ data, retryCount }) => {
    seen.push([data, retryCount]);
    if (seen.length === 4) return undefined;
    return { againInSeconds: 0.1, ...(seen.length === 2 && { data: 'changed' }) };
  });
  await enqueue(main, { queue: 'again', id, data: 'first' });
  await expect.poll(() => readState(id), WAIT).toBe('completed');
  expect(seen).toEqual([
    ['first', 0],
    ['first', 0],
    ['changed', 0],
    ['changed', 0],
  ]);
});

test.concurrent('what was put off is due when it is hastened, also what is being put off just then', async ({
  expect,
}) => {
  await main.queue.define('hastened');
  const waiting = newId();
  const running = newId();
  const release = Promise.withResolvers<void>();
  const ran = new Set<string>();
  const worker = await main.queue.work('hastened', { slots: 2 }, async ({ id }) => {
    if (ran.has(id)) return undefined;
    ran.add(id);
    if (id === running) await release.promise;
    return { againInSeconds: 3600 };
  });
  for (const id of [waiting, running]) await enqueue(main, { queue: 'hastened', id, data: null });
  await expect.poll(() => [ran.size, ran.has(running)], WAIT).toEqual([2, true]);
  await expect.poll(() => readState(waiting), WAIT).toBe('waiting');
  await worker.hasten();
  await expect.poll(() => readState(waiting), WAIT).toBe('completed');
  release.resolve();
  await expect.poll(() => readState(running), WAIT).toBe('completed');
});

test.concurrent('a job is not started before its time', async ({ expect }) => {
  await main.queue.define('later');
  const ran: number[] = [];
  await main.queue.work('later', { slots: 1 }, async () => void ran.push(Date.now()));
  const before = Date.now();
  await enqueue(main, { queue: 'later', data: null, startAfterSeconds: 1 });
  await expect.poll(() => ran, WAIT).toHaveLength(1);
  expect(ran[0]).toBeGreaterThanOrEqual(before + 990);
});

test.concurrent('takes no more than the capacity allows, and goes on when there is more', async ({
  expect,
}) => {
  await main.queue.define(['limited', 'meanwhile']);
  let capacity = 0;
  const ran: unknown[] = [];
  const options = { slots: 10, capacity: async () => capacity - ran.length };
  await main.queue.work('limited', options, async ({ data }) => void ran.push(data));
  for (const data of [1, 2, 3]) await enqueue(main, { queue: 'limited', data });
  await enqueue(main, { queue: 'meanwhile', data: 'something else is done' });
  expect(ran).toEqual([]);
  capacity = 2;
  main.queue.wake('limited');
  await expect.poll(() => ran, WAIT).toEqual([1, 2]);
  capacity = 3;
  await expect.poll(() => ran, WAIT).toEqual([1, 2, 3]);
});

test.concurrent('asks for its capacity when that has grown only if jobs were left waiting', async ({
  expect,
}) => {
  await main.queue.define('freed');
  let asked = 0;
  let capacity = 0;
  const ran: unknown[] = [];
  const options = {
    slots: 10,
    async capacity() {
      asked += 1;
      return capacity - ran.length;
    },
  };
  await main.queue.work('freed', options, async ({ data }) => void ran.push(data));
  await enqueue(main, { queue: 'freed', data: 1 });
  await expect.poll(() => asked, WAIT).toBeGreaterThan(0);
  capacity = 10;
  main.queue.freed('freed');
  await expect.poll(() => ran, WAIT).toEqual([1]);
  await enqueue(main, { queue: 'freed', data: 2 });
  await expect.poll(() => ran, WAIT).toEqual([1, 2]);
  const before = asked;
  main.queue.freed('freed');
  // The wake-up of another queue comes later on the same bus: that of this one has arrived then.
  await main.queue.define('marks');
  await main.queue.work('marks', { slots: 1 }, async ({ data }) => void ran.push(data));
  await enqueue(main, { queue: 'marks', data: 3 });
  await expect.poll(() => ran, WAIT).toEqual([1, 2, 3]);
  expect(asked).toBe(before);
});

test.concurrent('a wake-up reaches the worker of another process', async ({ expect }) => {
  const other = await join('other');
  await main.queue.define('elsewhere');
  await other.queue.define('elsewhere');
  const ran: unknown[] = [];
  await other.queue.work('elsewhere', { slots: 1 }, async ({ data }) => void ran.push(data));
  await enqueue(main, { queue: 'elsewhere', data: 'hello' });
  await expect.poll(() => ran, WAIT).toEqual(['hello']);
});

test.concurrent('declares a queue that is there again without writing it, unless its options are others', async () => {
  const written = async () => {
    const { rows } = await main.database.pool.query<{ version: string; retries: number }>(
      `select xmin::text as version, retry_limit as retries from queue.queues where name = 'declared'`,
    );
    return rows[0];
  };
  await main.queue.define('declared', { retryLimit: 3 });
  const before = await written();
  const later = await join('later');
  await later.queue.define('declared', { retryLimit: 3 });
  expect(await written()).toEqual(before);
  await later.queue.define('declared', { retryLimit: 4 });
  expect((await written())?.retries).toBe(4);
});

test.concurrent('declares many queues in one statement, each once, and of those only what differs', async () => {
  const names = ['many-one', 'many-two', 'many-two', 'many-three'];
  const read = async () => {
    const { rows } = await main.database.pool.query<{ name: string; retries: number; version: string }>(
      `select name, retry_limit as retries, xmin::text as version from queue.queues where name like 'many-%' order by name`,
    );
    return rows;
  };
  await main.queue.define(names, { retryLimit: 3 });
  const first = await read();
  expect(first.map(({ name, retries }) => [name, retries])).toEqual([
    ['many-one', 3],
    ['many-three', 3],
    ['many-two', 3],
  ]);
  expect(new Set(first.map(({ version }) => version)).size).toBe(1);
  await main.queue.define(['many-one', 'many-four'], { retryLimit: 3 });
  const [four, ...others] = await read();
  expect([four?.name, others]).toEqual(['many-four', first]);
});

test.concurrent('one handler per queue and process', async () => {
  await main.queue.define('double');
  await main.queue.work('double', { slots: 1 }, async () => undefined);
  await expect(main.queue.work('double', { slots: 1 }, async () => undefined)).rejects.toThrow(
    'a handler already',
  );
});

test.concurrent('stopping waits for the grace, then gives the job to another process as if it had not run', async ({
  expect,
}) => {
  const leaving = await join('leaving');
  await leaving.queue.define('given-back');
  await main.queue.define('given-back');
  const { promise: taken, resolve } = Promise.withResolvers<Job>();
  await leaving.queue.work('given-back', { slots: 2 }, (job) => {
    resolve(job);
    // Hangs, deaf to its signal.
    return new Promise<void>(() => undefined);
  });
  const id = newId();
  await enqueue(leaving, { queue: 'given-back', id, data: null });
  const job = await taken;
  await leaving.queue.stop(0);
  expect(job.signal.aborted).toBe(true);
  expect(leaving.bus.listenerCount()).toBe(0);
  const tries: number[] = [];
  await main.queue.work('given-back', { slots: 1 }, async ({ retryCount }) => void tries.push(retryCount));
  await expect.poll(() => readState(id), WAIT).toBe('completed');
  expect(tries).toEqual([0]);
});

test.concurrent('stopping lets a job end that needs no longer than the grace', async () => {
  const leaving = await join('patient');
  await leaving.queue.define('patient');
  const { promise: taken, resolve: take } = Promise.withResolvers<void>();
  const { promise: finish, resolve: end } = Promise.withResolvers<void>();
  await leaving.queue.work('patient', { slots: 1 }, async () => {
    take();
    await finish;
  });
  const id = newId();
  await enqueue(leaving, { queue: 'patient', id, data: null });
  await taken;
  const stopped = leaving.queue.stop(30);
  end();
  await stopped;
  expect(await readState(id)).toBe('completed');
});

test.concurrent('a handler that stops because it was told to has not failed', async () => {
  const leaving = await join('obedient');
  await leaving.queue.define('obedient', { retryLimit: 0 });
  const { promise: taken, resolve: take } = Promise.withResolvers<void>();
  await leaving.queue.work('obedient', { slots: 1 }, async ({ signal }) => {
    take();
    await once(signal, 'abort');
    signal.throwIfAborted();
  });
  const id = newId();
  await enqueue(leaving, { queue: 'obedient', id, data: null });
  await taken;
  await leaving.queue.stop(0);
  expect(await readState(id)).toBe('waiting');
});

test.concurrent('tells the handler when its job was taken from it, and then ignores what it answers', async ({
  expect,
}) => {
  await main.queue.define('taken');
  const { promise: taken, resolve: take } = Promise.withResolvers<Job>();
  const { promise: finish, resolve: end } = Promise.withResolvers<void>();
  const worker = await main.queue.work('taken', { slots: 1 }, async (job) => {
    take(job);
    await finish;
  });
  const id = newId();
  await enqueue(main, { queue: 'taken', id, data: null });
  const job = await taken;
  // As if another worker had taken it after ours was silent for too long.
  await main.database.pool.query(
    `update queue.jobs set claims = claims + 1, lease_ends_at = now() + interval '1 hour' where id = $1`,
    [id],
  );
  await expect.poll(() => job.signal.aborted, WAIT).toBe(true);
  end();
  await worker.stop(5);
  expect(await readState(id)).toBe('active');
});

test.concurrent('settles its jobs although the database was away meanwhile', async ({ expect }) => {
  const cut = await join('cut-off');
  await cut.queue.define('cut-off');
  const { promise: taken, resolve: take } = Promise.withResolvers<void>();
  const { promise: finish, resolve: end } = Promise.withResolvers<void>();
  await cut.queue.work('cut-off', { slots: 1 }, async () => {
    take();
    await finish;
  });
  const id = newId();
  await enqueue(cut, { queue: 'cut-off', id, data: null });
  await taken;
  await main.database.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'cut-off'`,
  );
  end();
  await expect.poll(() => readState(id), WAIT).toBe('completed');
});

test.concurrent('owners are served in turn, and so are the kinds of one of them', async ({ expect }) => {
  const queue = 'in-turn';
  await main.queue.define(queue);
  const jobs = (owner: string, count: number, kind?: string): NewJob[] =>
    Array.from({ length: count }, () => ({ queue, owner, ...(kind && { kind }), data: `${owner} ${kind}` }));
  await main.database
    .typed()
    .transaction()
    .execute(async (transaction) => {
      await main.queue.enqueue(transaction, ...jobs('many', 300, 'image'), ...jobs('many', 30, 'video'));
      await main.queue.enqueue(transaction, ...jobs('late', 1, 'video'), ...jobs('few', 3));
      await main.queue.enqueue(transaction, { queue, data: 'nobody' });
    });
  const ran: Json[] = [];
  const worker = await main.queue.work(queue, { slots: 1 }, async ({ data }) => void ran.push(data));
  await expect.poll(() => ran.length, WAIT).toBe(335);
  await worker.stop(0);
  const first = new Set(ran.slice(0, 4).map((data) => JSON.stringify(data).match(/\w+/)?.[0]));
  expect(first).toEqual(new Set(['many', 'late', 'few', 'nobody']));
  expect(ran.lastIndexOf('few undefined')).toBeLessThan(9);
  // Each kind has every other turn: the 30 are done long before the 300.
  expect(ran.lastIndexOf('many video')).toBeLessThan(200);
});

test.concurrent('what several slots claim at once is of several owners, and all of it is claimed', async ({
  expect,
}) => {
  const queue = 'in-turn-at-once';
  await main.queue.define(queue);
  await main.database
    .typed()
    .transaction()
    .execute(async (transaction) => {
      const many = Array.from({ length: 40 }, () => ({ queue, owner: 'many', data: 'many' }));
      await main.queue.enqueue(transaction, ...many, { queue, owner: 'late', data: 'late' });
    });
  const other = await join('in-turn');
  const ran: Json[] = [];
  const handler = async ({ data }: Job) => void ran.push(data);
  const workers = [main, other].map((member) => member.queue.work(queue, { slots: 4 }, handler));
  await expect.poll(() => ran.length, WAIT).toBe(41);
  for (const worker of workers) await (await worker).stop(0);
  // In the first claim of either.
  expect(ran.indexOf('late')).toBeLessThan(8);
});

test.concurrent.each([
  ['a NUL character', 'a\0b'],
  ['half a character at the end of what is kept', `${'x'.repeat(1_999)}😀 and more`],
  ['half characters', '\uD800 and \uDC00'],
])('a job whose error has %s holds up no other', async (name, message) => {
  const queue = `unstorable ${name}`.replaceAll(' ', '.');
  const member = await join(queue);
  await member.queue.define(queue, { retryLimit: 0 });
  const ids = [newId(), newId(), newId()];
  for (const id of ids) await enqueue(member, { queue, data: { id } });
  const ran: Json[] = [];
  const all = Promise.withResolvers<void>();
  const worker = await member.queue.work(queue, { slots: 3 }, async ({ data }) => {
    ran.push(data);
    // Ended together, so that their outcomes are written together.
    if (ran.length === ids.length) all.resolve();
    await all.promise;
    if (data === ran[0]) throw new Error(message);
  });
  await vi.waitFor(async () => {
    const { rows } = await main.database.pool.query(
      'select state from queue.jobs where queue = $1 order by state',
      [queue],
    );
    expect(rows.map(({ state }) => state as string)).toEqual(['completed', 'completed', 'failed']);
  }, WAIT);
  expect(ran).toHaveLength(ids.length);
  await worker.stop(0);
});
