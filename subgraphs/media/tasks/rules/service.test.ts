import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { internalCaller } from '../../../../platform/access/caller.ts';
import { computeFingerprint } from '../../../../platform/access/idempotency.ts';
import { AppError, notFound } from '../../../../platform/errors.ts';
import { newId } from '../../../../platform/ids.ts';
import { createMetrics } from '../../../../platform/metrics/prometheus.ts';
import type { JobHandler } from '../../../../platform/queue/queue.ts';
import { UpstreamError } from '../../domain/failure.ts';
import type { Task } from '../../domain/task.ts';
import type { GeneratorRegistry } from '../../generators/bindings/binding.ts';
import type { Handle } from '../../providers/contract/provider.ts';
import { createWorkObserver } from '../accounting/work-observer.ts';
import { createBulkService } from '../bulk/service.ts';
import { createBulkWorker } from '../bulk/worker.ts';
import { eraseOwners } from '../removal/erase-owner.ts';
import { createErasureHandler, removeOldTasks } from '../removal/remove.ts';
import { readOpenTasks } from '../storage/owned-tasks-store.ts';
import type { ReadTaskRow } from '../storage/task-reader.ts';
import {
  image,
  me,
  nobody,
  toRegistry,
  startEngine,
  stranger,
  type TestEngine,
  until,
} from '../testing/engine.ts';
import { testBinding, testProvider } from '../testing/provider.ts';
import { prune } from '../work/pruner.ts';
import type { RunningTaskService } from './service.ts';

let engine: TestEngine;
let registry: GeneratorRegistry;
let service: RunningTaskService;
beforeAll(async () => {
  engine = await startEngine();
  registry = toRegistry(testBinding('test#0', testProvider(engine.http), 'http://127.0.0.1:1'));
  service = engine.service(registry);
});
afterAll(() => engine.stop());

const conflict = { code: 'IDEMPOTENCY_CONFLICT' };

describe('submitting', () => {
  it('refuses bad input before anything is written', async () => {
    const before = await engine.count('media.tasks');
    const bad = { kind: 'IMAGE', generator: 'test', prompt: ' ', aspectRatio: '0:9', count: 0 } as const;
    const refused = await service.submit(me, image('', { work: bad })).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'BAD_USER_INPUT', field: 'prompt' });
    expect((refused as { problems: { field: string }[] }).problems.map(({ field }) => field)).toEqual([
      'prompt',
      'aspectRatio',
      'count',
    ]);
    const unknown = { kind: 'IMAGE', generator: 'nobody', prompt: 'a fox' } as const;
    await expect(service.submit(me, image('', { work: unknown }))).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'generator',
    });
    await expect(service.submit(me, image('a fox', { fileIds: [newId()] }))).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
    });
    expect(await engine.count('media.tasks')).toBe(before);
  });

  it('refuses work beyond the queue limit, and takes it again when there is room', async () => {
    const id = 'narrow#0';
    const narrow = toRegistry(
      testBinding(id, testProvider(engine.http), 'http://127.0.0.1:1', { maxWaiting: 3 }),
    );
    const own = engine.service(narrow);
    const work = { kind: 'IMAGE', generator: 'narrow', prompt: 'a fox' } as const;
    const first = await own.submit(me, image('', { work, idempotencyKey: 'narrow' }));
    const results = await Promise.allSettled(
      Array.from({ length: 4 }, () => own.submit(me, image('', { work }))),
    );
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(2);
    const refused = results.find((result) => result.status === 'rejected');
    expect(refused?.reason).toMatchObject({ code: 'QUEUE_FULL', retryAfter: 5 });
    const repeated = await own.submit(me, image('', { work, idempotencyKey: 'narrow' }));
    expect(repeated.id).toBe(first.id);
    const [waiting] = (await own.list(me, { generator: 'narrow' }, { first: 10, after: null })).tasks;
    await own.cancel(me, waiting?.id ?? '');
    await until(async () => own.submit(me, image('', { work })).catch(() => null));
  });

  it('says where a task stands in its line, in which callers have turns', async () => {
    const line = toRegistry(testBinding('line#0', testProvider(engine.http), 'http://127.0.0.1:1'));
    const own = engine.service(line);
    const work = { kind: 'IMAGE', generator: 'line', prompt: 'a fox' } as const;
    const tasks: Task[] = [];
    for (let count = 0; count < 3; count += 1) tasks.push(await own.submit(me, image('', { work })));
    tasks.push(await own.submit(stranger, image('', { work })));
    await until(async () => tasks.every((task) => own.queuePosition(task) !== null));
    expect(tasks.map((task) => own.queuePosition(task))).toEqual([1, 3, 4, 2]);
  });
});

describe('idempotency', () => {
  it('makes one task of 12 parallel requests with one key', async () => {
    const submission = image('twelve', { idempotencyKey: 'twelve' });
    const tasks = await Promise.all(Array.from({ length: 12 }, () => service.submit(me, submission)));
    expect(new Set(tasks.map((task) => task.id)).size).toBe(1);
    const { rows } = await engine.pool.query(`select 1 from media.tasks where input->>'prompt' = 'twelve'`);
    expect(rows).toHaveLength(1);
  });

  it('answers the same task whatever its state, and refuses another request with its key', async () => {
    const submission = image('once', { idempotencyKey: 'once' });
    const task = await service.submit(me, submission);
    await service.cancel(me, task.id);
    expect(await service.submit(me, submission)).toMatchObject({ id: task.id, state: 'CANCELLED' });
    await expect(service.submit(me, image('twice', { idempotencyKey: 'once' }))).rejects.toMatchObject(
      conflict,
    );
    const other = await service.submit(stranger, submission);
    expect(other.id).not.toBe(task.id);
  });

  it('narrowed by joinSeconds answers running work alone, and then stands for the new task', async () => {
    const submission = image('joined', { idempotencyKey: 'joined', joinSeconds: 60 });
    const [first, second] = await Promise.all([
      service.submit(me, submission),
      service.submit(me, submission),
    ]);
    expect(second.id).toBe(first.id);
    await service.cancel(me, first.id);
    const third = await service.submit(me, submission);
    expect(third.id).not.toBe(first.id);
    expect((await service.submit(me, submission)).id).toBe(third.id);
    const whatever = { ...submission, joinSeconds: null };
    expect((await service.submit(me, whatever)).id).toBe(third.id);
    const past = { ...submission, joinSeconds: 0 };
    const others = await Promise.all(Array.from({ length: 4 }, () => service.submit(me, past)));
    expect(others.map(({ id }) => id)).not.toContain(third.id);
  });

  it('does not burn a key on a request that failed validation', async () => {
    const bad = { kind: 'IMAGE', generator: 'test', prompt: '' } as const;
    await expect(service.submit(me, image('', { work: bad, idempotencyKey: 'kept' }))).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
    });
    await expect(service.submit(me, image('good', { idempotencyKey: 'kept' }))).resolves.toMatchObject({
      state: 'QUEUED',
    });
  });

  it("never gives an anonymous caller a stranger's task", async () => {
    const submission = image('shared', { idempotencyKey: 'shared' });
    const task = await service.submit(nobody('1.1.1.1'), submission);
    expect((await service.submit(nobody('1.1.1.1'), submission)).id).toBe(task.id);
    expect((await service.submit(nobody('2.2.2.2'), submission)).id).not.toBe(task.id);
    const different = service.submit(nobody('1.1.1.1'), image('other', { idempotencyKey: 'shared' }));
    await expect(different).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
  });

  it('forgets keys a day after the end, and logs after their time', async () => {
    const submission = image('old', { idempotencyKey: 'old' });
    const task = await service.submit(me, submission);
    await service.cancel(me, task.id);
    await engine.pool.query(`update media.tasks set ended_at = now() - interval '31 days' where id = $1`, [
      task.id,
    ]);
    await engine.pool.query(
      `update media.idempotency set created_at = now() - interval '31 days' where task_id = $1`,
      [task.id],
    );
    await prune({ ...engine, registry, eventRetentionDays: 30 });
    await expect(service.events(task.id, 0, 10)).rejects.toMatchObject({ code: 'EVENTS_EXPIRED' });
    expect(await service.readMany(me, [task.id])).toMatchObject([{ state: 'CANCELLED' }]);
    expect((await service.submit(me, submission)).id).not.toBe(task.id);
  });

  it('is removed whole after TASK_RETENTION_DAYS, and not before its execution may do without it', async () => {
    const days = async (age: number, onEnd: string | null) => {
      const task = await service.submit(me, image('old'));
      await service.cancel(me, task.id);
      await engine.pool.query(
        `update media.tasks set ended_at = now() - make_interval(days => $2), on_end = $3 where id = $1`,
        [task.id, age, onEnd],
      );
      return task.id;
    };
    const options = { ...engine, registry, eventRetentionDays: 30 };
    // What the tests before this one have left.
    await prune({ ...options, taskRetentionDays: 7 });
    const [young, old, behind, kept, done] = [
      await days(6, null),
      await days(9, null),
      await days(8, null),
      await days(8, 'test.ended'),
      await days(31, 'test.ended'),
    ];
    await prune({ ...options, taskRetentionDays: 7, stopping: AbortSignal.abort() });
    expect(await service.readMany(me, [old])).not.toEqual([null]);
    let looks = 0;
    const soon = {
      get aborted() {
        return (looks += 1) > 1;
      },
    } as AbortSignal;
    const batch = (limit: number) => ({ days: 7, limit, left: new Set<string>() });
    expect(await removeOldTasks({ ...options, stopping: soon }, batch(10))).toBe(3);
    expect((await service.readMany(me, [old, done])).map((task) => task === null)).toEqual([false, true]);
    const told: unknown[] = [];
    const logger = { ...engine.logger, error: (...line: unknown[]) => void told.push(line[1]) };
    const odd = { isDefined: () => Promise.reject(new Error('nobody can remove it')) };
    const broken = { ...options, logger, queue: { ...engine.queue, ...odd }, promptRetentionDays: 7 };
    await prune({ ...broken, taskRetentionDays: 7 });
    expect(told).toEqual(['an old task could not be removed', 'an old task could not be removed']);
    const one = batch(1);
    expect([await removeOldTasks(broken, one), await removeOldTasks(options, one)]).toEqual([1, 1]);
    expect((await service.readMany(me, [old, behind])).map((task) => task === null)).toEqual([false, true]);
    expect(await removeOldTasks(options, one)).toBe(0);
    await prune({ ...options, taskRetentionDays: 7 });
    const found = await service.readMany(me, [young, old, kept, done]);
    expect(found.map((task) => task?.id ?? null)).toEqual([young, null, kept, null]);
    await expect(service.remove(me, kept, null)).rejects.toMatchObject({ code: 'CONFLICT', field: 'id' });
    const running = await service.submit(me, image('running'));
    await expect(service.remove(me, running.id, null)).rejects.toMatchObject({ code: 'CONFLICT' });
    await service.remove(me, young, null);
    expect(await service.readMany(me, [young])).toEqual([null]);
  });

  it('loses its prompt after PROMPT_RETENTION_DAYS, once, and is readable as before', async () => {
    const [old, young] = [await service.submit(me, image('old')), await service.submit(me, image('young'))];
    for (const { id } of [old, young]) await service.cancel(me, id);
    await engine.pool.query(
      `update media.tasks set ended_at = now() - case id when $1 then interval '8 days' else interval '6 days' end
       where id = any(array[$1, $2]::uuid[])`,
      [old.id, young.id],
    );
    const options = { ...engine, registry, eventRetentionDays: 30 };
    await prune({ ...options, promptRetentionDays: 7 });
    const found = await service.readMany(me, [old.id, young.id]);
    expect(found).toMatchObject([
      { id: old.id, state: 'CANCELLED', input: { kind: 'IMAGE', generator: 'test' } },
      { id: young.id, input: { prompt: 'young' } },
    ]);
    expect(found[0]?.input).not.toHaveProperty('prompt');
    const { rows } = await engine.pool.query(
      `select input ? 'prompt' as "hasPrompt" from media.task_steps where task_id = $1`,
      [old.id],
    );
    expect(rows).toEqual([{ hasPrompt: false }]);
  });

  it('has every log removed in one run that is old enough, however many there are', async () => {
    await engine.pool.query(`
      insert into media.tasks (id, owner, kind, generator, input, state, stage, last_seq, ended_at)
      select gen_random_uuid(), 'many', 'IMAGE', 'test', '{}', 'CANCELLED', 'cancelled', 1, now() - interval '40 days'
      from generate_series(1, 1201)`);
    await prune({ ...engine, registry, eventRetentionDays: 30 });
    const { rows } = await engine.pool.query(
      `select 1 from media.tasks where owner = 'many' and not events_pruned`,
    );
    expect(rows).toEqual([]);
  });

  it('takes equal values for equal, whatever the order of their keys', () => {
    expect(computeFingerprint({ b: [{ d: 1, c: undefined }], a: 'x' })).toBe(
      computeFingerprint({ a: 'x', b: [{ d: 1 }] }),
    );
    expect(computeFingerprint({ a: [1, 2] })).not.toBe(computeFingerprint({ a: [2, 1] }));
  });
});

describe('startTask', () => {
  it('is idempotent by its id, also in parallel', async () => {
    const id = newId();
    const submission = { ...image('chosen'), id, owner: 'usr_them', onEnd: null };
    const tasks = await Promise.all(Array.from({ length: 6 }, () => service.start(submission)));
    expect(new Set(tasks.map((task) => task.id))).toEqual(new Set([id]));
    expect(tasks[0]).toMatchObject({ owner: 'usr_them', state: 'QUEUED' });
    const { rows } = await engine.pool.query(`select 1 from queue.jobs where data->>'taskId' = $1`, [id]);
    expect(rows).toHaveLength(1);
  });

  it('tells the queue it was given of the end, exactly once', async () => {
    await engine.queue.define('test.ended');
    const id = newId();
    await service.start({ ...image('told'), id, owner: 'usr_them', onEnd: 'test.ended' });
    const admin = internalCaller('test');
    await Promise.allSettled(Array.from({ length: 4 }, () => service.cancel(admin, id)));
    const { rows } = await engine.pool.query(`select data from queue.jobs where queue = 'test.ended'`);
    expect(rows).toEqual([{ data: { taskId: id, state: 'CANCELLED' } }]);
  });
});

it('refuses a start whose end would be told to a queue that nobody has declared', async () => {
  const start = (onEnd: string) => service.start({ ...image('told'), id: newId(), owner: 'usr_them', onEnd });
  const refusal = { code: 'BAD_USER_INPUT', field: 'onEnd' };
  await expect(start('nobody.declared')).rejects.toMatchObject(refusal);
  await expect(start('no name: "it" ')).rejects.toMatchObject(refusal);
  const elsewhere = await engine.anotherQueue();
  await elsewhere.define('declared.elsewhere');
  expect(await start('declared.elsewhere')).toMatchObject({ state: 'QUEUED' });
});

describe('reading', () => {
  it('answers in the order of the ids, and null for what is not there or not theirs', async () => {
    const mine = await service.submit(me, image('mine'));
    const open = await service.submit(nobody('1.1.1.1'), image('open'));
    const ids = [open.id, 'no id', newId(), mine.id];
    const read = async (caller: typeof me) =>
      (await service.readMany(caller, ids)).map((task) => task?.id ?? null);
    expect(await read(me)).toEqual([open.id, null, null, mine.id]);
    expect(await read(stranger)).toEqual([open.id, null, null, null]);
  });

  it('finds what is open of owners, of everybody, and of both, each once', async () => {
    const mine = await service.submit(me, image('followed'));
    const theirs = await service.submit(stranger, image('followed too'));
    const find = async (...owners: readonly (string | null)[]) => {
      const found = await readOpenTasks(engine.database, owners);
      return [mine, theirs].map(({ id }) => found.filter((task) => task.id === id).length);
    };
    expect(await find()).toEqual([0, 0]);
    expect(await find(me.id)).toEqual([1, 0]);
    expect(await find(me.id, stranger.id)).toEqual([1, 1]);
    expect(await find(null)).toEqual([1, 1]);
    expect(await find(null, me.id)).toEqual([1, 1]);
  });

  it('lists newest first, page by page, the own ones only', async () => {
    const lister = { ...me, id: 'usr_lister' };
    const made: string[] = [];
    for (let count = 0; count < 5; count += 1)
      made.push((await service.submit(lister, image(`list ${count}`))).id);
    // By id, which is by time to the millisecond.
    const first = await service.list(lister, {}, { first: 3, after: null });
    expect(first).toMatchObject({ hasNextPage: true });
    const after = first.tasks.at(-1)?.id ?? null;
    const second = await service.list(lister, { states: ['QUEUED'], kinds: ['IMAGE'] }, { first: 3, after });
    expect([...first.tasks, ...second.tasks].map((task) => task.id)).toEqual(made.toSorted().toReversed());
    expect(second.hasNextPage).toBe(false);
    const none = await service.list(nobody('1.1.1.1'), {}, { first: 3, after: null });
    expect([none, await none.count()]).toMatchObject([{ tasks: [], hasNextPage: false }, 0]);
    await expect(service.list(me, {}, { first: 3, after: 'x' })).rejects.toMatchObject({ field: 'after' });
  });
});

describe('cancelling what waits', () => {
  it('ends it at once, and once', async () => {
    const task = await service.submit(me, image('waits'));
    await expect(service.cancel(stranger, task.id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const cancelled = await service.cancel(me, task.id);
    expect(cancelled).toMatchObject({ state: 'CANCELLED', stage: 'cancelled' });
    expect(cancelled.cancelRequestedAt).not.toBeNull();
    expect(await service.cancel(me, task.id)).toMatchObject({ lastSeq: cancelled.lastSeq });
    expect((await service.events(task.id, 0, 10)).map((event) => event.state)).toEqual([
      'QUEUED',
      'CANCELLED',
    ]);
  });
});

describe('what is refused', () => {
  it('are pages out of bounds, cursors of nobody, and ids that are none', async () => {
    const page = (first: number) => service.list(me, {}, { first, after: null });
    for (const first of [-1, 201]) await expect(page(first)).rejects.toMatchObject({ field: 'first' });
    for (const first of [0, 200]) await expect(page(first)).resolves.toBeDefined();
    const { id } = await service.submit(me, image('bounds'));
    const events = (first: number) => service.events(id, 0, first);
    for (const first of [-1, 1_001]) await expect(events(first)).rejects.toMatchObject({ field: 'first' });
    expect(await events(0)).toEqual([]);
    expect(await events(1_000)).toHaveLength(1);
    for (const unknown of ['no id', newId()]) {
      const missing = { code: 'NOT_FOUND' };
      await expect(service.events(unknown, 0, 1)).rejects.toMatchObject(missing);
      await expect(service.cancel(me, unknown)).rejects.toMatchObject(missing);
      await expect(service.remove(me, unknown, null)).rejects.toMatchObject(missing);
      await expect(service.watch(me, unknown, 0, AbortSignal.abort())).rejects.toMatchObject(missing);
    }
    const start = service.start({ ...image(), id: 'no id', owner: 'usr_them', onEnd: null });
    await expect(start).rejects.toMatchObject({ code: 'BAD_USER_INPUT', field: 'id' });
  });

  it('are the tasks of everyone to who is no administrator, and any to who is unknown', async () => {
    const options = {
      after: null,
      endedSince: null,
      since: null,
      signal: AbortSignal.abort(),
      isPlaced: false,
    };
    const watch = (caller: typeof me, everyone: boolean) =>
      service.watchOwned(caller, { ...options, everyone });
    await expect(watch(nobody('1.1.1.1'), false)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    await expect(watch(me, true)).rejects.toMatchObject({ code: 'FORBIDDEN', field: 'everyone' });
    for (const [caller, everyone] of [[me, false] as const, [admin, true] as const])
      expect(await (await watch(caller, everyone)).next()).toMatchObject({ done: true });
  });

  it('is work whose account has nothing left, where that is known', async () => {
    const asked: unknown[] = [];
    const startGate = {
      open: async () => null,
      check: async ({ owner }: { owner: string }) => void asked.push(owner),
    };
    const bounded = engine.service(registry, { startGate });
    await bounded.check(image().work, 'usr_me');
    await bounded.check(image().work, null);
    expect(asked).toEqual(['usr_me']);
    const unknown = { kind: 'IMAGE', generator: 'nobody', prompt: 'a fox' } as const;
    await expect(bounded.check(unknown, null)).rejects.toMatchObject({ field: 'generator' });
  });
});

const admin = { ...me, id: 'usr_admin', scopes: ['admin' as const] };

describe('a list', () => {
  it('holds what every filter lets in', async () => {
    const owner = { ...me, id: 'usr_filters' };
    const work = { kind: 'IMAGE', generator: 'test', prompt: 'a 100% heron' } as const;
    const fileId = newId();
    const heron = await service.submit(owner, image('', { work }));
    await service.submit(owner, image('an egret'));
    await engine.pool.query(
      `update media.tasks set input = input || $2::jsonb, created_at = now() - interval '1 hour' where id = $1`,
      [heron.id, JSON.stringify({ model: 'one', images: [{ fileId }] })],
    );
    const before = new Date(Date.now() - 1_800_000);
    const found = async (filter: Parameters<typeof service.list>[1], caller: typeof me = owner) => {
      const { tasks, count } = await service.list(caller, filter, { first: 10, after: null });
      expect(await count()).toBe(tasks.length);
      return tasks.map(({ input }) => input['prompt']);
    };
    for (const filter of [
      { text: '100% HERON' },
      { model: 'one' },
      { file: fileId },
      { createdBefore: before },
    ])
      expect(await found(filter)).toEqual(['a 100% heron']);
    expect(await found({ createdAfter: before })).toEqual(['an egret']);
    for (const filter of [
      { text: '100_' },
      { model: 'two' },
      { file: newId() },
      { states: ['FAILED' as const] },
    ])
      expect(await found(filter)).toEqual([]);
    expect(await found({ owner: owner.id }, admin)).toEqual(['an egret', 'a 100% heron']);
    expect(await found({ owner: owner.id }, me)).toEqual([]);
  });
});

it('a list has the files that tasks made, with the members that are asked for', async () => {
  const maker = { ...me, id: 'usr_maker' };
  const [plain, made] = [
    await service.submit(maker, image('makes nothing')),
    await service.submit(maker, image('makes two')),
  ];
  const files = [newId(), newId()];
  for (const id of files)
    await engine.pool.query(
      `insert into media.media (id, owner, name, object_key, content_type, bytes, sha256, state, task_id)
       values ($1::uuid, 'usr_maker', 'made', $1::text, 'image/png', 4, '', 'STORED', $2)`,
      [id, made.id],
    );
  const mediaIds = [files[1], newId(), files[0]];
  await engine.pool.query(`update media.tasks set result = $2 where id = $1`, [
    made.id,
    JSON.stringify({ mediaIds, texts: [], notes: [], facts: {} }),
  ]);
  const list = async (isFileNeeded?: (member: string) => boolean) =>
    (await service.list(maker, {}, { first: 10, after: null, isFileNeeded })).tasks as readonly ReadTaskRow[];
  expect((await list()).map((task) => 'files' in task)).toEqual([false, false]);
  const found = (await list((member) => member === 'name')).map((task) => [
    task.id,
    task.files,
    task.input['prompt'],
  ]);
  expect(found).toEqual([
    [made.id, [files[1], files[0]].map((id) => ({ id, name: 'made' })), 'makes two'],
    [plain.id, [], 'makes nothing'],
  ]);
  expect((await list(() => true))[0]?.files).toMatchObject([{ createdAt: expect.any(Date) }, { bytes: 4 }]);
  const together = async (isFileNeeded: (member: string) => boolean) =>
    ((await service.readMany(maker, [made.id], { isFileNeeded })) as ReadTaskRow[])[0]?.files;
  expect(await together((member) => member === 'name')).toEqual(found[0]?.[1]);
  expect(await together(() => true)).toMatchObject([{ createdAt: expect.any(Date) }, { bytes: 4 }]);
});

describe('what is told of ends', () => {
  it('is a line of the log, and metrics by kind, generator and outcome', async () => {
    const metrics = createMetrics('all');
    const lines: object[] = [];
    const logger = {
      ...engine.logger,
      info: (...line: unknown[]) => void lines.push(line[0] as object),
    };
    const observer = createWorkObserver({ metrics, logger });
    const observed = engine.service(registry, { observer });
    const { id } = await observed.submit(me, image('observed'));
    await observed.cancel(me, id);
    expect(lines).toMatchObject([{ task: id, state: 'CANCELLED', kind: 'IMAGE', queueMs: null }]);
    const end = { ...(lines[0] as Parameters<typeof observer.taskEnded>[0]), queueMs: 1_500, runMs: 0 };
    observer.taskEnded(end);
    const attempt = { provider: 'painter', startedAt: new Date() };
    const cost = { units: {}, microUnits: 2_000_000, currency: 'USD' } as never;
    observer.attemptEnded({ ...attempt, model: 'one' }, { outcome: 'finished', cost });
    observer.attemptEnded(
      { ...attempt, model: null },
      { outcome: 'LOST', cost: { ...(cost as object), microUnits: null } as never },
    );
    const text = await metrics.text();
    for (const line of [
      'kiln_tasks_ended_total{kind="IMAGE",generator="test",state="CANCELLED",role="all"} 2',
      'kiln_task_phase_seconds_sum{role="all",kind="IMAGE",phase="queue"} 1.5',
      'kiln_task_phase_seconds_count{role="all",kind="IMAGE",phase="run"} 1',
      'kiln_attempts_total{provider="painter",model="one",outcome="finished",role="all"} 1',
      'kiln_attempts_total{provider="painter",model="",outcome="LOST",role="all"} 1',
      'kiln_cost_total{provider="painter",currency="USD",role="all"} 2',
    ])
      expect(text).toContain(`${line}\n`);
    expect(text).not.toContain('phase="store"} ');
  });
});

describe('removing', () => {
  const removed: string[] = [];
  let refusal: Error | null = null;
  const own = (erasing = registry) => {
    const remove = async (_caller: unknown, id: string) => {
      if (refusal !== null) throw refusal;
      removed.push(id);
      await engine.pool.query(`update media.media set state = 'DELETED' where id = $1`, [id]);
      // Nobody here reads what it was.
      return undefined as never;
    };
    const files = { ...engine.files, remove };
    return { files, service: engine.service(erasing, { files }) };
  };
  const newFile = async (owner: string, taskId: string | null) => {
    const id = newId();
    await engine.pool.query(
      `insert into media.media (id, owner, name, object_key, content_type, bytes, sha256, state, task_id)
       values ($1::uuid, $2, 'made', $1::text, 'image/png', 4, '', 'STORED', $3)`,
      [id, owner, taskId],
    );
    return id;
  };

  it('takes the files with the task, and has its provider delete what that keeps', async () => {
    const erased: Handle[] = [];
    let fails: Error | null = null;
    const erase = async (handle: Handle) => {
      erased.push(handle);
      if (fails !== null) throw fails;
    };
    const plain = testProvider(engine.http);
    const provider = { ...plain, jobs: { IMAGE: { ...plain.jobs?.IMAGE, erase } } } as typeof plain;
    const erasing = toRegistry(testBinding('test#0', provider, 'http://127.0.0.1:1'));
    const { service: mine } = own(erasing);
    const anonymous = nobody('1.1.1.1');
    const { id, manageToken = '' } = await mine.submit(
      anonymous,
      image('removed', { idempotencyKey: 'gone' }),
    );
    await mine.cancel(internalCaller('test'), id);
    const file = await newFile('anon', id);
    await engine.pool.query(
      `insert into media.attempts (task_id, step, number, binding, provider, reference, state, handle)
       values ($1::uuid, 1, 1, 'test#0', 'test', $1::text || '/1/1', 'CANCELLED', '{"id": "there"}'),
         ($1::uuid, 1, 2, 'test#0', 'test', $1::text || '/1/2', 'CANCELLED', null)`,
      [id],
    );
    const missing = { code: 'NOT_FOUND' };
    for (const token of [null, 'another'])
      await expect(mine.remove(anonymous, id, token)).rejects.toMatchObject(missing);
    await expect(mine.remove(stranger, id, null)).rejects.toMatchObject(missing);
    refusal = new AppError('UNAVAILABLE', 'the store is away');
    await expect(mine.remove(anonymous, id, manageToken)).rejects.toThrow('away');
    expect(await mine.readMany(anonymous, [id])).toMatchObject([{ id }]);
    // A file that somebody else has removed meanwhile is no obstacle.
    refusal = notFound('media', file);
    await mine.remove(anonymous, id, manageToken);
    refusal = null;
    expect(await mine.readMany(anonymous, [id])).toEqual([null]);
    for (const table of ['task_events', 'task_steps', 'attempts', 'idempotency']) {
      const { rows } = await engine.pool.query(`select from media.${table} where task_id = $1`, [id]);
      expect([table, rows]).toEqual([table, []]);
    }
    const { rows } = await engine.pool.query(
      `select data from queue.jobs where queue = 'media.erase-upstream'`,
    );
    expect(rows).toMatchObject([{ data: { kind: 'IMAGE', handle: { id: 'there' }, binding: 'test#0' } }]);
    const job = { data: rows[0].data, signal: AbortSignal.abort() } as never;
    await createErasureHandler(registry)(job);
    expect(erased).toEqual([]);
    const handler = createErasureHandler(erasing);
    await handler(job);
    fails = new UpstreamError('LOST', 'unknown here');
    await handler(job);
    expect(erased).toEqual([{ id: 'there' }, { id: 'there' }]);
    fails = new UpstreamError('UNAVAILABLE', 'away');
    await expect(handler(job)).rejects.toThrow('away');
  });

  it('of an owner goes on although one of their files, or that of another owner, can not be removed', async () => {
    const { service: mine, files } = own();
    const odd = [await newFile('usr_odd', null), await newFile('usr_odd', null)];
    const even = await newFile('usr_even', null);
    let stuck = '';
    for (const owner of ['usr_odd', 'usr_even']) await mine.eraseOwner(owner);
    const remove = async (caller: never, id: string) => {
      if (odd.includes(id) && id === (stuck ||= id)) throw new Error('nobody can remove it');
      return files.remove(caller, id);
    };
    const told: unknown[] = [];
    const logger = { ...engine.logger, error: (...line: unknown[]) => void told.push(line[1]) };
    removed.length = 0;
    await eraseOwners({ ...engine, registry, logger, files: { remove } }, 200);
    expect(removed).toEqual([...odd.filter((id) => id !== stuck), even]);
    expect(told).toEqual(['an owner could not be erased: it is tried again']);
    await engine.pool.query(`delete from media.erasures where owner in ('usr_odd', 'usr_even')`);
  });

  it('of an owner takes all that is theirs, when their work has ended, and nothing of others', async () => {
    const { service: mine, files } = own();
    const owner = { ...me, id: 'usr_leaving' };
    const [waits, runs] = [await mine.submit(owner, image('waits')), await mine.submit(owner, image('runs'))];
    const theirs = await mine.submit(stranger, image('stays'));
    await engine.pool.query(
      `insert into media.attempts (task_id, step, number, binding, provider, reference, state, claim, claimed_at)
       values ($1::uuid, 1, 1, 'test#0', 'test', $1::text || '/1/1', 'STARTING', gen_random_uuid(), now())`,
      [runs.id],
    );
    const [kept, other] = [await newFile(owner.id, null), await newFile(stranger.id, null)];
    for (let times = 0; times < 2; times += 1) await mine.eraseOwner(owner.id);
    // What is stored already is erased when it has ended.
    const late = { ...me, id: 'usr_late' };
    const storing = await mine.submit(late, image('storing'));
    await engine.pool.query(`update media.task_steps set state = 'STORING' where task_id = $1`, [storing.id]);
    await mine.eraseOwner(late.id);
    expect(await mine.readMany(late, [storing.id])).toMatchObject([{ cancelRequestedAt: null }]);
    await engine.pool.query(`delete from media.erasures where owner = 'usr_late'`);
    await engine.pool.query(`create function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'no more room'; end $$`);
    await engine.pool.query(`create trigger refuse before update on media.tasks for each row
      when (new.owner = 'usr_refused') execute function refuse()`);
    await mine.submit({ ...me, id: 'usr_refused' }, image('refused'));
    await expect(mine.eraseOwner('usr_refused')).rejects.toThrow('no more room');
    await engine.pool.query(
      `drop trigger refuse on media.tasks; delete from media.erasures where owner = 'usr_refused'`,
    );
    expect(await mine.readMany(owner, [waits.id, runs.id])).toMatchObject([
      { state: 'CANCELLED' },
      { cancelRequestedAt: expect.any(Date) },
    ]);
    const parts = { ...engine, registry, files };
    const ids = async () => (await mine.readMany(admin, [waits.id, runs.id])).map((task) => task?.id);
    let looks = 0;
    const soon = {
      get aborted() {
        return (looks += 1) > 1;
      },
    } as AbortSignal;
    await newFile('usr_files', null);
    await mine.eraseOwner('usr_files');
    removed.length = 0;
    await eraseOwners({ ...parts, stopping: AbortSignal.abort() }, 200);
    expect([await ids(), removed]).toEqual([[waits.id, runs.id], []]);
    await engine.pool.query(`delete from media.erasures where owner = 'usr_files'`);
    await eraseOwners({ ...parts, stopping: soon }, 200);
    expect(await ids()).toEqual([waits.id, runs.id]);
    await eraseOwners(parts, 200);
    // What running work still reads is there until it has ended.
    expect([await ids(), removed]).toEqual([[undefined, runs.id], []]);
    await engine.pool.query(`update media.tasks set state = 'CANCELLED', ended_at = now() where id = $1`, [
      runs.id,
    ]);
    const more = await newFile(owner.id, null);
    for (const who of [owner.id, stranger.id]) {
      await engine.pool.query(
        `insert into media.chat_costs (id, owner, generator, provider, model, sandbox, units)
         values (gen_random_uuid(), $1, 'test', 'test', '', false, '{}')`,
        [who],
      );
      await engine.pool.query(
        `insert into media.conversations (id, owner, title, generator, revision)
         values (gen_random_uuid(), $1, 'talk', 'test', gen_random_uuid())`,
        [who],
      );
      await engine.pool.query(
        `insert into media.upload_reservations (id, account, bytes) values (gen_random_uuid(), $1, 1)`,
        [who],
      );
      for (const scope of ['USER', 'KEY'])
        await engine.pool.query(
          `insert into media.budgets (id, name, scope, subject, period, refuses_unknown, period_start)
           values (gen_random_uuid(), 'a budget', $2, $1, 'DAY', false, now())`,
          [who, scope],
        );
    }
    const erasures = `select owner from media.erasures`;
    for (let times = 0; (await engine.pool.query(erasures)).rowCount !== 0; times += 1) {
      expect(times).toBeLessThan(8);
      await eraseOwners(parts, 1);
    }
    expect(await ids()).toEqual([undefined, undefined]);
    expect(removed.toSorted()).toEqual([kept, more].toSorted());
    expect(await mine.readMany(stranger, [theirs.id])).toMatchObject([{ id: theirs.id }]);
    const { rows } = await engine.pool.query(
      `select (select state from media.media where id = $1) as other,
        (select count(*)::int from media.usage where owner = 'usr_leaving') as usage,
        (select sum(tasks_cancelled)::int from media.usage where owner = 'deleted') as cancelled`,
      [other],
    );
    expect(rows).toEqual([{ other: 'STORED', usage: 0, cancelled: 1 }]);
    const { rows: left } = await engine.pool.query(
      `select array(select owner from media.chat_costs order by 1) as chats,
        array(select owner from media.conversations) as conversations,
        array(select account from media.upload_reservations) as reservations,
        array(select scope || ' ' || subject from media.budgets order by 1) as budgets`,
    );
    expect(left).toEqual([
      {
        chats: ['deleted', stranger.id],
        conversations: [stranger.id],
        reservations: [stranger.id],
        budgets: [`KEY ${owner.id}`, `KEY ${stranger.id}`, `USER ${stranger.id}`],
      },
    ]);
    await engine.pool.query('delete from media.budgets');
  });
});

describe('operations on many tasks', () => {
  const mass = { ...me, id: 'usr_mass' };
  const bulk = () => createBulkService(engine);
  const done = async (caller: typeof me, id: string, state = 'DONE') =>
    until(async () => (await bulk().list(caller, 50)).find((one) => one.id === id && one.state === state));
  const work = async (tasks = service) => {
    const worker = createBulkWorker({ ...engine, tasks, promptRetentionDays: 7 });
    await worker.start();
    return worker;
  };
  const count = async (condition: string) =>
    (await engine.pool.query(`select from media.tasks where owner = 'usr_mass' and ${condition}`)).rowCount;

  it("cancel the caller's own that wait, in turns, and none that came later", async () => {
    // More than one turn has.
    await Promise.all(Array.from({ length: 27 }, () => service.submit(mass, image('waits'))));
    const other = await service.submit(stranger, image('not theirs'));
    const made = await bulk().begin(mass, 'CANCEL', { states: ['QUEUED', 'SUCCEEDED'] });
    expect(made).toMatchObject({
      state: 'RUNNING',
      owner: 'usr_mass',
      total: 27,
      done: 0,
      refused: 0,
      problem: null,
    });
    const later = await service.submit(mass, image('later'));
    const worker = await work();
    expect(await done(mass, made.id)).toMatchObject({
      total: 27,
      done: 27,
      refused: 0,
      endedAt: expect.any(Date),
    });
    await worker.stop(1);
    expect(await count(`state = 'CANCELLED'`)).toBe(27);
    expect(await service.readMany(admin, [later.id, other.id])).toMatchObject([
      { state: 'QUEUED' },
      { state: 'QUEUED' },
    ]);
    expect(await bulk().stop(mass, made.id)).toMatchObject({ state: 'DONE' });
  });

  it('start again once what still has its prompt, for its owner, and say why others were refused', async () => {
    const [fine, forgotten, executions] = [
      await service.submit(mass, image('fine again')),
      await service.submit(mass, image('forgotten again')),
      await service.submit(mass, image('of an execution again')),
    ];
    for (const { id } of [fine, forgotten, executions]) await service.cancel(mass, id);
    await engine.pool.query(`update media.tasks set ended_at = now() - interval '8 days' where id = $1`, [
      forgotten.id,
    ]);
    await engine.pool.query(`update media.tasks set on_end = 'test.ended' where id = $1`, [executions.id]);
    const made = await bulk().begin(admin, 'RESTART', { owner: mass.id, text: 'again' });
    expect(made).toMatchObject({ owner: 'usr_admin', total: 2 });
    // A turn that is done a second time starts nothing more.
    await engine.pool.query(`create function twice() returns trigger language plpgsql as
      $$ begin if old.done = 0 and new.done = 1 then raise exception 'the connection is lost'; end if; return new; end $$`);
    await engine.pool.query(
      `create trigger twice before update on media.bulk_operations for each row execute function twice()`,
    );
    const worker = await work();
    await until(async () => (await count(`input->>'prompt' = 'fine again'`)) === 2);
    await engine.pool.query('drop trigger twice on media.bulk_operations');
    expect(await done(admin, made.id)).toMatchObject({
      done: 1,
      refused: 1,
      problem: 'its prompt is no longer kept',
    });
    await worker.stop(1);
    expect(await count(`input->>'prompt' = 'fine again' and state = 'QUEUED'`)).toBe(1);
    expect(await bulk().list(mass, 50)).toHaveLength(1);
    expect((await bulk().list(admin, 1)).map(({ id }) => id)).toEqual([made.id]);
  });

  it('go on after a task that a mistake of ours keeps from starting, and where a budget is used up', async () => {
    const wordless = await service.submit(mass, image('wordless'));
    const fine = await service.submit(mass, image('wordless as well'));
    for (const { id } of [wordless, fine]) await service.cancel(mass, id);
    // As of a task that ended while prompts were kept for less long than now.
    await engine.pool.query(
      `update media.tasks set input = '{"kind": "IMAGE", "generator": "test"}' where id = $1`,
      [wordless.id],
    );
    const ids = [wordless.id, fine.id];
    const made = await bulk().begin(mass, 'RESTART', {
      createdAfter: new Date(wordless.createdAt.getTime() - 1),
    });
    expect(made.total).toBe(ids.length);
    const worker = await work();
    expect(await done(mass, made.id)).toMatchObject({
      done: 1,
      refused: 1,
      problem: 'it failed by a mistake of ours',
    });
    await worker.stop(1);
    const spent = new AppError('BUDGET_EXCEEDED', 'used up', { retryAfter: 3_600 });
    const again = await bulk().begin(mass, 'RESTART', { text: 'wordless as well' });
    const other = await work({ ...service, submit: () => Promise.reject(spent) });
    expect(await done(mass, again.id)).toMatchObject({ done: 0, problem: 'used up' });
    await other.stop(1);
  });

  it('wait while a queue is full, and stop where they are', async () => {
    const narrow = toRegistry(
      testBinding('narrow#0', testProvider(engine.http), 'http://127.0.0.1:1', { maxWaiting: 0 }),
    );
    const submit = await service.submit(mass, image('too many'));
    await service.cancel(mass, submit.id);
    await engine.pool.query(
      `update media.tasks set generator = 'narrow', input = input || '{"generator": "narrow"}' where id = $1`,
      [submit.id],
    );
    const made = await bulk().begin(mass, 'RESTART', { text: 'too many' });
    const worker = await work(engine.service(narrow));
    const job = `select from queue.jobs where queue = 'media.bulk-operations' and data->>'id' = $1 and state = 'waiting' and due_at > now()`;
    await until(async () => (await engine.pool.query(job, [made.id])).rowCount === 1);
    await expect(bulk().stop(stranger, made.id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await bulk().stop(mass, made.id)).toMatchObject({ state: 'STOPPED', done: 0, refused: 0 });
    await worker.stop(1);
  });

  it('go on when their process stops or is away, and take up the files of what they start', async () => {
    const [image1, image2] = [newId(), newId()];
    const inputs = [
      {
        kind: 'IMAGE',
        generator: 'test',
        prompt: 'by hand',
        images: [{ fileId: image1 }, { url: 'http://there' }],
      },
      { kind: 'RECIPE', taskType: 'tea', prompt: 'by hand', image: { fileId: image2 } },
      { kind: 'RECIPE', taskType: 'tea', prompt: 'by hand' },
    ];
    const tasks = [];
    for (const input of inputs) {
      const { id } = await service.submit(mass, image('by hand'));
      await service.cancel(mass, id);
      await engine.pool.query(
        `update media.tasks set input = $2, ended_at = now() - interval '400 days' where id = $1`,
        [id, JSON.stringify(input)],
      );
      tasks.push(id);
    }
    let handle: JobHandler | undefined;
    const submitted: unknown[] = [];
    let thrown: Error | null = new AppError('UNAVAILABLE', 'the database is away');
    const submit = async (_caller: unknown, submission: { readonly fileIds: readonly string[] }) => {
      if (thrown !== null) throw thrown;
      submitted.push(submission.fileIds);
      return null as never;
    };
    const queue = {
      ...engine.queue,
      work: async (_name: string, _options: unknown, handler: JobHandler) => {
        handle = handler;
        return { wake() {}, hasten: async () => {}, stop: async () => {} };
      },
    };
    // Prompts are kept as long as their tasks.
    await createBulkWorker({ ...engine, queue, tasks: { ...service, submit } }).start();
    const made = await bulk().begin(mass, 'RESTART', { text: 'by hand' });
    const run = (signal = new AbortController().signal) =>
      handle?.({ data: { id: made.id }, signal } as never);
    expect(await run(AbortSignal.abort())).toEqual({ againInSeconds: 0 });
    await expect(run()).rejects.toThrow('away');
    for (const [code, retryAfter] of [
      ['QUEUE_FULL', undefined],
      ['BUDGET_EXCEEDED', 60],
    ] as const) {
      thrown = new AppError(code, 'later', { ...(retryAfter && { retryAfter }) });
      expect(await run()).toEqual({ againInSeconds: 5 });
    }
    expect(await bulk().list(mass, 1)).toMatchObject([{ state: 'RUNNING', done: 0, refused: 0 }]);
    thrown = null;
    expect(await run()).toBeUndefined();
    expect(submitted).toEqual([[image1], [image2], []]);
    expect(await bulk().list(mass, 1)).toMatchObject([
      { id: made.id, state: 'DONE', done: 3, problem: null },
    ]);
    const again = await bulk().begin(mass, 'RESTART', { text: 'by hand' });
    await bulk().stop(mass, again.id);
    expect(
      await handle?.({ data: { id: again.id }, signal: new AbortController().signal } as never),
    ).toBeUndefined();
    expect(submitted).toHaveLength(3);
  });

  it('are begun by known callers alone, of tasks that are not too many, and five at once', async () => {
    const stranded = { ...me, id: 'usr_stranded' };
    const begin = (caller: typeof me, action: 'CANCEL' | 'RESTART' = 'CANCEL', filter = {}) =>
      bulk().begin(caller, action, filter);
    await expect(begin(nobody('1.1.1.1'))).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(await bulk().list(nobody('1.1.1.1'), 10)).toEqual([]);
    for (const id of ['no id', newId()])
      await expect(bulk().stop(stranded, id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const key = { ...stranded, kind: 'key' as const, generators: ['test'] };
    await expect(begin(key, 'RESTART')).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await begin(key, 'RESTART', { generator: 'test' });
    const { id: recipe } = await service.submit(key, image('a recipe'));
    await service.cancel(key, recipe);
    await engine.pool.query(
      `update media.tasks set kind = 'RECIPE', input = input || '{"kind": "RECIPE"}' where id = $1`,
      [recipe],
    );
    const cook = { ...key, id: 'key_cook', generators: ['recipe'] };
    await engine.pool.query(`update media.tasks set owner = 'key_cook' where id = $1`, [recipe]);
    const painter = { ...cook, generators: ['test'] };
    expect(await begin(painter, 'RESTART', { generator: 'test' })).toMatchObject({ total: 0 });
    await expect(begin(painter, 'RESTART', { kinds: ['RECIPE'], generator: 'test' })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
    await expect(begin(cook, 'RESTART', { generator: 'test' })).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(await begin(cook, 'RESTART', { kinds: ['RECIPE'] })).toMatchObject({ total: 1 });
    const atOnce = await Promise.allSettled(Array.from({ length: 8 }, () => begin(key)));
    expect(atOnce.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
    await expect(begin(stranded)).rejects.toMatchObject({ code: 'CONFLICT' });
    await engine.pool.query(`
      insert into media.tasks (id, owner, kind, generator, input, state, stage, last_seq)
      select gen_random_uuid(), 'usr_crowd', 'IMAGE', 'test', '{}', 'QUEUED', 'queued', 1 from generate_series(1, 10001)`);
    const crowd = { ...me, id: 'usr_crowd' };
    await expect(begin(crowd)).rejects.toMatchObject({ code: 'BAD_USER_INPUT', field: 'filter' });
    await engine.pool.query(
      `delete from media.tasks where id = (select id from media.tasks where owner = 'usr_crowd' limit 1)`,
    );
    expect(await begin(crowd)).toMatchObject({ total: 10_000 });
  });
});
