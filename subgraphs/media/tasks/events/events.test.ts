import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { EventBus } from '../../../../platform/events/event-bus.ts';
import { newId } from '../../../../platform/ids.ts';
import type { TaskEvent } from '../../domain/task.ts';
import { appendEvents, type NewEvent } from '../storage/event-store.ts';
import { insertTask } from '../storage/submission-store.ts';
import { lockTask } from '../storage/task-store.ts';
import { createTransactor, retryOnDeadlock, TASK_TOPIC } from '../storage/transactor.ts';
import { lossyBus, me, nobody, toRegistry, startEngine, type TestEngine, until } from '../testing/engine.ts';
import { testBinding } from '../testing/provider.ts';
import { createProgressWriter } from '../work/progress/progress-writer.ts';
import { createEventHub, type EventHub } from './event-hub.ts';

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

/** A task that runs, without anybody working on it. */
async function openTask(owner = 'usr_me'): Promise<string> {
  const id = newId();
  const input = { kind: 'IMAGE', generator: 'test', prompt: 'a fox' } as const;
  const words = {
    id,
    owner,
    kind: 'IMAGE',
    generator: 'test',
    taskType: null,
    onEnd: null,
  } as const;
  const steps = [{ step: 1, label: '', input, binding: 'test#0' }];
  await engine.database
    .transaction()
    .execute((transaction) => insertTask(transaction, { ...words, input, steps, idempotency: null }));
  return id;
}

/** Any words at all: the log does not know what they say. */
function append(id: string, change: { stage?: string; progress?: number; state?: 'RUNNING' | 'SUCCEEDED' }) {
  return createTransactor(engine).append([{ taskId: id, ...change } as NewEvent]);
}

async function collect(iterator: AsyncIterableIterator<TaskEvent>, most = Infinity): Promise<TaskEvent[]> {
  const events: TaskEvent[] = [];
  for await (const event of iterator) {
    events.push(event);
    if (events.length >= most) break;
  }
  return events;
}

function watcher(hub: EventHub) {
  return (taskId: string, after = 0, signal = new AbortController().signal) =>
    hub.subscribe({ taskId, after, signal, state: 'QUEUED', lastSeq: 1 });
}

const ALL_OWN = { everyone: false, after: null, endedSince: null, isPlaced: false } as const;

const numbers = (events: readonly TaskEvent[]) => events.map((event) => event.seq);
const oneTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

describe('numbering', () => {
  it('has no gap, no fall and nothing after the end under 20 concurrent writers', async () => {
    const ids = [await openTask(), await openTask(), await openTask()];
    const writers = Array.from({ length: 20 }, async (_, writer) => {
      for (let round = 0; round < 10; round += 1) {
        const progress = (round * 20 + writer) % 100;
        const batch = ids.map((taskId) => ({ taskId, stage: `node ${writer}.${round}` as const, progress }));
        await appendEvents(engine.database, writer % 2 === 0 ? batch : batch.toReversed());
        if (writer === 7 && round === 6) {
          await appendEvents(
            engine.database,
            ids.map((taskId) => ({ taskId, state: 'SUCCEEDED', progress: 100 })),
          );
        }
      }
    });
    await Promise.all(writers);
    const service = engine.service(toRegistry());
    for (const id of ids) {
      const log = await service.events(id, 0, 1_000);
      const [task] = await service.readMany(me, [id]);
      expect(numbers(log)).toEqual(oneTo(task?.lastSeq ?? 0));
      expect(log.filter((event) => event.state === 'SUCCEEDED')).toHaveLength(1);
      expect(log.at(-1)?.state).toBe('SUCCEEDED');
      expect(log.every((event, index) => event.progress >= (log[index - 1]?.progress ?? 0))).toBe(true);
    }
  });

  it('writes no entry for a report that changes nothing', async () => {
    const id = await openTask();
    expect(await append(id, { stage: 'queued', progress: 0 })).toEqual([]);
    expect(await append(id, { stage: 'rendering', progress: 5 })).toMatchObject([{ seq: 2 }]);
    expect(await append(id, { stage: 'rendering', progress: 4 })).toEqual([]);
  });

  it('keeps texts that the database would refuse', async () => {
    const id = await openTask();
    await append(id, { stage: 'a\0b\uD800c' });
    const log = await engine.service(toRegistry()).events(id, 1, 10);
    expect(log[0]?.stage).toBe('ab\uFFFDc');
  });
});

describe('progress reports', () => {
  it('are coalesced, and dropped once their step no longer runs', async () => {
    const transactor = createTransactor(engine);
    const options = { database: engine.database, transactor, logger: engine.logger };
    const writer = createProgressWriter({ ...options, flushMs: 30 });
    const id = await openTask();
    const report = { taskId: id, step: 1, stage: 'rendering', estimated: false, stepProgress: null } as const;
    await engine.pool.query(`update media.task_steps set state = 'RUNNING' where task_id = $1`, [id]);
    for (let progress = 1; progress <= 50; progress += 1) writer.report({ ...report, progress });
    await writer.close();
    const service = engine.service(toRegistry());
    expect((await service.events(id, 1, 100)).map((event) => event.progress)).toEqual([50]);

    await engine.pool.query(`update media.task_steps set state = 'STORING' where task_id = $1`, [id]);
    const late = createProgressWriter({ ...options, flushMs: 30 });
    late.report({ ...report, progress: 80 });
    await late.close();
    expect(await service.events(id, 2, 100)).toEqual([]);
  });

  it('that wait are not written after one that is written at once', async () => {
    const transactor = createTransactor(engine);
    const writer = createProgressWriter({ database: engine.database, transactor, logger: engine.logger });
    const id = await openTask();
    const report = { taskId: id, step: 1, estimated: false, stepProgress: null } as const;
    await engine.pool.query(`update media.task_steps set state = 'RUNNING' where task_id = $1`, [id]);
    writer.report({ ...report, stage: 'rendering', progress: 20 });
    await writer.write({ ...report, stage: 'rendering, preview 1', progress: 20 });
    await writer.close();
    const log = await engine.service(toRegistry()).events(id, 1, 100);
    expect(log.map(({ stage }) => stage)).toEqual(['rendering, preview 1']);
  });

  it('that came while others could not be written are written next', async () => {
    const batches: string[][] = [];
    const lines: unknown[] = [];
    const written = Promise.withResolvers<void>();
    const report = (taskId: string) =>
      writer.report({
        taskId,
        step: 1,
        stage: 'rendering',
        progress: 5,
        estimated: false,
        stepProgress: null,
      });
    const scope = {
      transaction: engine.database,
      append: async (rows: readonly NewEvent[]) => batches.push(rows.map(({ taskId }) => taskId)),
    };
    const run = async (body: (one: never) => Promise<void>) => {
      await body(scope as never);
      if (batches.length > 1) return written.resolve();
      report(second);
      throw new Error('no database');
    };
    const [first, second] = [newId(), newId()];
    const { database, logger } = engine;
    const writer = createProgressWriter({
      database,
      transactor: { ...createTransactor(engine), run } as ReturnType<typeof createTransactor>,
      logger: { ...logger, warn: (...line: unknown[]) => void lines.push(line[1]) },
      flushMs: 1,
    });
    report(first);
    await written.promise;
    await writer.close();
    expect([batches, lines]).toEqual([[[first], [second]], ['progress could not be written']]);
  });

  it('are dropped also when they waited while their step ended', async () => {
    const transactor = createTransactor(engine);
    const { database, logger } = engine;
    const id = await openTask();
    await engine.pool.query(`update media.task_steps set state = 'RUNNING' where task_id = $1`, [id]);
    const writer = createProgressWriter({ database, transactor, logger, flushMs: 1 });
    let closing: Promise<void> | undefined;
    await transactor.run(async (scope) => {
      await lockTask(scope.transaction, id);
      await sql`update media.task_steps set state = 'STORING' where task_id = ${id}`.execute(
        scope.transaction,
      );
      await scope.append([{ taskId: id, stage: 'storing result' }]);
      writer.report({
        taskId: id,
        step: 1,
        stage: 'rendering',
        progress: 80,
        estimated: false,
        stepProgress: null,
      });
      closing = writer.close();
      await until(async () => {
        const { rowCount } = await engine.pool.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return rowCount === 0 ? null : true;
      });
    });
    await closing;
    const log = await engine.service(toRegistry()).events(id, 1, 100);
    expect(log.map(({ stage }) => stage)).toEqual(['storing result']);
  });
});

describe('what a transaction appends', () => {
  it('is announced once it is committed, and never when it was rolled back', async () => {
    const id = await openTask();
    const told: unknown[] = [];
    const bus: EventBus = { ...engine.bus, publish: (...what) => void told.push(what) };
    const transactor = createTransactor({ ...engine, bus });
    await transactor.run(async (scope) => {
      await scope.append([{ taskId: id, progress: 10 }]);
      await scope.append([{ taskId: id, progress: 20 }]);
      expect(told).toEqual([]);
    });
    expect(told).toEqual([2, 3].map((seq) => [TASK_TOPIC, id, seq]));
    const rolledBack = transactor.run(async (scope) => {
      await scope.append([{ taskId: id, progress: 30 }]);
      throw new Error('no');
    });
    await expect(rolledBack).rejects.toThrow('no');
    expect(told).toHaveLength(2);
  });

  it('is written again after a deadlock, four times at most, and after nothing else', async () => {
    const failing = async (failures: number, code: string) => {
      let runs = 0;
      const running = retryOnDeadlock(async () => {
        runs += 1;
        if (runs <= failures) throw Object.assign(new Error('again'), { code });
        return 'written';
      });
      return [await running.catch((error: Error) => error.message), runs];
    };
    for (const code of ['40P01', '40001']) {
      expect(await failing(3, code)).toEqual(['written', 4]);
      expect(await failing(4, code)).toEqual(['again', 4]);
    }
    expect(await failing(1, '23505')).toEqual(['again', 1]);
  });
});

describe('watching', () => {
  it('delivers every event exactly once over replay, live and reconnects', async () => {
    const hub = createEventHub(engine);
    const watch = watcher(hub);
    const id = await openTask();
    const writing = (async () => {
      for (let progress = 1; progress <= 98; progress += 1)
        await append(id, { stage: `at ${progress}`, progress });
      await append(id, { state: 'SUCCEEDED', progress: 100 });
    })();
    const seen: number[] = [];
    while (seen.at(-1) !== 100) seen.push(...numbers(await collect(watch(id, seen.at(-1) ?? 0), 7)));
    await writing;
    expect(seen).toEqual(oneTo(100));
    expect(hub.subscriberCount()).toBe(0);
  });

  it('recovers what was announced while wake-ups were lost', async () => {
    const silent = lossyBus(engine.bus, () => true);
    const hub = createEventHub({ ...engine, slowTickMs: 200 });
    const id = await openTask();
    const watching = collect(watcher(hub)(id));
    const transactor = createTransactor({ ...engine, bus: silent });
    for (const progress of [10, 20, 30]) await transactor.append([{ taskId: id, progress }]);
    await transactor.append([{ taskId: id, state: 'SUCCEEDED' }]);
    expect(numbers(await watching)).toEqual(oneTo(5));
  });

  it('reads again at once when the bus was cut off for a while', async () => {
    let gap = (): void => {};
    const bus: EventBus = {
      ...lossyBus(engine.bus, () => true),
      onGap: (listener) => {
        gap = listener;
        return () => {};
      },
    };
    let compared = 0;
    const database = engine.database.withPlugin({
      transformQuery({ node }) {
        if (/events_?pruned/i.test(JSON.stringify(node))) compared += 1;
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    const hub = createEventHub({ ...engine, database, bus, slowTickMs: 60_000 });
    const id = await openTask();
    const iterator = watcher(hub)(id);
    expect((await iterator.next()).value).toMatchObject({ seq: 1 });
    const pending = iterator.next();
    await appendEvents(engine.database, [{ taskId: id, progress: 10 }]);
    gap();
    gap();
    expect((await pending).value).toMatchObject({ seq: 2, progress: 10 });
    expect(compared).toBe(1);
    const next = iterator.next();
    await appendEvents(engine.database, [{ taskId: id, progress: 20 }]);
    gap();
    expect((await next).value).toMatchObject({ seq: 3 });
    await iterator.return?.();
  });

  it('leaves nothing behind when 200 watchers vanish', async () => {
    const before = engine.bus.listenerCount();
    const hub = createEventHub(engine);
    const controller = new AbortController();
    const id = await openTask();
    const iterators = Array.from({ length: 200 }, () => watcher(hub)(id, 0, controller.signal));
    const firsts = await Promise.all(iterators.map((iterator) => iterator.next()));
    expect(firsts.every((first) => first.value?.seq === 1)).toBe(true);
    const pending = iterators.map((iterator) => iterator.next());
    expect(hub.subscriberCount()).toBe(200);
    for (const iterator of iterators.slice(0, 100)) await iterator.return?.();
    expect(hub.subscriberCount()).toBe(100);
    controller.abort();
    expect((await Promise.all(pending)).every((result) => result.done)).toBe(true);
    expect(hub.subscriberCount()).toBe(0);
    expect(engine.bus.listenerCount()).toBe(before);
  });

  it('holds no connection while it waits', async () => {
    const hub = createEventHub(engine);
    const id = await openTask();
    const iterators = Array.from({ length: 300 }, () => watcher(hub)(id));
    await Promise.all(iterators.map((iterator) => iterator.next()));
    const pending = iterators.map((iterator) => iterator.next());
    await until(
      async () => engine.pool.waitingCount === 0 && engine.pool.idleCount === engine.pool.totalCount,
    );
    await append(id, { state: 'SUCCEEDED' });
    expect((await Promise.all(pending)).every((result) => result.value?.state === 'SUCCEEDED')).toBe(true);
  });

  it('ends a watcher that takes nothing, with an error that says how to resume', async () => {
    const hub = createEventHub({ ...engine, slowTickMs: 20, slowClientMs: 100 });
    const id = await openTask();
    const iterator = watcher(hub)(id);
    expect((await iterator.next()).value?.seq).toBe(1);
    await append(id, { progress: 10 });
    await until(async () => hub.subscriberCount() === 0);
    await expect(iterator.next()).rejects.toThrow('resume with afterSeq');
    expect((await iterator.next()).done).toBe(true);
  });

  it('ends at once for a task that has ended and has nothing more', async () => {
    const service = engine.service(toRegistry());
    const id = await openTask();
    await append(id, { state: 'SUCCEEDED' });
    const { signal } = new AbortController();
    expect(numbers(await collect(await service.watch(me, id, 0, signal)))).toEqual([1, 2]);
    expect(await collect(await service.watch(me, id, 2, signal))).toEqual([]);
    expect(service.watcherCount()).toBe(0);
  });

  it('looks open tasks up together for all who follow those of their own', async () => {
    const service = engine.service(toRegistry());
    const id = await openTask('usr_crowd');
    const crowded = { ...me, id: 'usr_crowd' };
    const leaving = new AbortController();
    let statements = 0;
    const count = () => (statements += 1);
    engine.pool.on('acquire', count);
    const options = { ...ALL_OWN, since: null, signal: leaving.signal };
    const crowd = await Promise.all(Array.from({ length: 500 }, () => service.watchOwned(crowded, options)));
    const first = await Promise.all(crowd.map((stream) => stream.next()));
    engine.pool.off('acquire', count);
    expect(first.every(({ value }) => value.taskId === id)).toBe(true);
    expect(statements).toBeLessThan(50);
    leaving.abort();
    await append(id, { state: 'SUCCEEDED' });
  });

  it('begins with every entry after a moment for who comes back to all tasks, and with nothing else', async () => {
    const service = engine.service(toRegistry());
    const ids = [await openTask('usr_back'), await openTask('usr_back')];
    const back = { ...me, id: 'usr_back' };
    for (const id of ids) await append(id, { stage: 'before' });
    const options = { ...ALL_OWN, signal: AbortSignal.timeout(100_000) };
    const known = await collect(await service.watchOwned(back, { ...options, since: null }), 2);
    const since = new Date(Math.max(...known.map(({ at }) => at.getTime())) + 1);
    await append(ids[0] ?? '', { stage: 'between' });
    await append(ids[0] ?? '', { state: 'SUCCEEDED' });
    await append(ids[1] ?? '', { stage: 'after' });
    const rest = await collect(await service.watchOwned(back, { ...options, since }), 3);
    const seen = rest.map(({ taskId, seq }) => `${ids.indexOf(taskId)} ${seq}`);
    expect(seen.toSorted()).toEqual(['0 3', '0 4', '1 3']);
    await append(ids[1] ?? '', { state: 'SUCCEEDED' });
  });

  it('looks tasks up together for a crowd that comes at once: nobody waits for a connection', async () => {
    const service = engine.service(toRegistry());
    const ids = await Promise.all(Array.from({ length: 20 }, openTask));
    let statements = 0;
    let mostWaiting = 0;
    const count = () => {
      statements += 1;
      mostWaiting = Math.max(mostWaiting, engine.pool.waitingCount);
    };
    engine.pool.on('acquire', count);
    const { signal } = new AbortController();
    const crowd = Array.from({ length: 2_000 }, async (_, index) => {
      const events = await service.watch(me, ids[index % ids.length] ?? '', 0, signal);
      return [await events.next(), events] as const;
    });
    const came = await Promise.all(crowd);
    engine.pool.off('acquire', count);
    expect(came.every(([first]) => first.value?.seq === 1)).toBe(true);
    expect([statements < 60, mostWaiting < 20]).toEqual([true, true]);
    await Promise.all(ids.map((id) => append(id, { state: 'SUCCEEDED' })));
    const rest = await Promise.all(came.map(([, events]) => collect(events)));
    expect(rest.every((events) => numbers(events).join() === '2')).toBe(true);
    expect(service.watcherCount()).toBe(0);
  });

  it('tells strangers that there is no such task, and late readers that the log is gone', async () => {
    const service = engine.service(toRegistry());
    const id = await openTask();
    const { signal } = new AbortController();
    await expect(service.watch(nobody('1.2.3.4'), id, 0, signal)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    await append(id, { state: 'SUCCEEDED' });
    await engine.pool.query('update media.tasks set events_pruned = true where id = $1', [id]);
    await expect(service.watch(me, id, 0, signal)).rejects.toMatchObject({ code: 'EVENTS_EXPIRED' });
    await expect(service.events(id, 0, 10)).rejects.toMatchObject({ code: 'EVENTS_EXPIRED' });
    expect(await collect(await service.watch(me, id, 2, signal))).toEqual([]);
  });

  it('ends every watcher when the process stops', async () => {
    const service = engine.service(toRegistry(testBinding('test#0', { name: 'none' }, 'http://127.0.0.1:1')));
    const id = await openTask();
    const iterator = await service.watch(me, id, 1, new AbortController().signal);
    const pending = iterator.next();
    // Who follows all tasks of their own waits for none that is there.
    const options = { ...ALL_OWN, since: null, signal: new AbortController().signal };
    const owned = (await service.watchOwned({ ...me, id: 'usr_without_tasks' }, options)).next();
    service.close();
    await expect(pending).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(owned).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});
