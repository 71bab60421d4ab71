import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { internalCaller } from '../../../../platform/access/caller.ts';
import { computeFingerprint } from '../../../../platform/access/idempotency.ts';
import { newId } from '../../../../platform/ids.ts';
import type { Task } from '../../domain/task.ts';
import type { GeneratorRegistry } from '../../generators/bindings/binding.ts';
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
    const results = await Promise.allSettled(
      Array.from({ length: 5 }, () => own.submit(me, image('', { work }))),
    );
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(3);
    const refused = results.find((result) => result.status === 'rejected');
    expect(refused?.reason).toMatchObject({ code: 'QUEUE_FULL', retryAfter: 5 });
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
    const [young, old, kept, done] = [
      await days(6, null),
      await days(8, null),
      await days(8, 'test.ended'),
      await days(31, 'test.ended'),
    ];
    const options = { ...engine, registry, eventRetentionDays: 30 };
    await prune({ ...options, taskRetentionDays: 7, stopping: AbortSignal.abort() });
    expect(await service.readMany(me, [old])).not.toEqual([null]);
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
    expect(await service.list(nobody('1.1.1.1'), {}, { first: 3, after: null })).toMatchObject({
      tasks: [],
      hasNextPage: false,
    });
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
