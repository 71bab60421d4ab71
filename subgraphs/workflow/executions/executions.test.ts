import { randomUUID } from 'node:crypto';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

import { anonymousCaller, internalCaller, type Caller } from '../../../platform/access/caller.ts';
import { createDatabase, type Database } from '../../../platform/database/database.ts';
import { AppError, badInput } from '../../../platform/errors.ts';
import type { EventBus } from '../../../platform/events/event-bus.ts';
import { createEventBus } from '../../../platform/events/postgres/postgres-event-bus.ts';
import { newId } from '../../../platform/ids.ts';
import type { JsonObject } from '../../../platform/json.ts';
import { createLogger } from '../../../platform/process/logger.ts';
import { createQueue } from '../../../platform/queue/postgres-queue.ts';
import type { Job, Queue } from '../../../platform/queue/queue.ts';
import { migratedDatabase } from '../../../test/kit/database/migrated.ts';
import type { TestDatabase } from '../../../test/kit/database/postgres.ts';
import { workflowDatabase } from '../database/database.ts';
import type { ExecuteRequest, Execution, ExecutionEvent } from '../domain/execution.ts';
import { createTemplateService } from '../templates/service.ts';
import { pruneKeys } from './accept.ts';
import { createFakeMedia, type FakeMedia } from './fake-media.fixture.ts';
import { cancelQueue, createExecutionLifecycle, endedQueue, startQueue } from './lifecycle.ts';
import { createMediaClient } from './media-client.ts';
import { createExecutionService } from './service.ts';
import { createExecutionStore, type StoredExecution } from './store.ts';
import { sweepExecutions, type SweepDependencies } from './sweep.ts';
import { createExecutionWorker, executionQueues, type ExecutionWorker } from './worker.ts';

const logger = createLogger({ level: 'silent' });
const until = { timeout: 100_000, interval: 20 };
const user = (id: string, ...scopes: string[]): Caller => ({
  kind: 'user',
  id,
  scopes,
  traceId: 'test',
  address: null,
});
const anna = user('usr_anna');
const ben = user('usr_ben');
const key: Caller = { kind: 'key', id: 'key_shop', scopes: [], traceId: 'test', address: null };
const stranger = anonymousCaller('test', '192.0.2.1');

const HOUR_MS = 3_600_000;
/** From this age on a sweep looks after an execution. */
const OVERDUE_MS = 1_500;
const templateOptions = {
  workflowNames: {},
  checkRunnable: () => Promise.resolve(),
  checkPrice: () => undefined,
};

let home: TestDatabase;
let database: Database;
let bus: EventBus;
let queue: Queue;
let media: FakeMedia;
let executions: ReturnType<typeof createExecutionService>;
let sweep: SweepDependencies;
let worker: ExecutionWorker;

beforeAll(async () => {
  home = await migratedDatabase();
  database = createDatabase({ config: home.config, maxConnections: 6, applicationName: 'test', logger });
  bus = await createEventBus({ database, logger });
  queue = await createQueue({ database, bus, logger });
  await createTemplateService(workflowDatabase(database), templateOptions).addBundled();
});
beforeEach(async () => {
  media = createFakeMedia(logger);
  const tables = workflowDatabase(database);
  const store = createExecutionStore(tables);
  const client = createMediaClient(media.link);
  const lifecycle = createExecutionLifecycle({ store, media: client, bus, logger });
  const shared = { database: tables, store, lifecycle, queue, logger };
  const templates = createTemplateService(tables, templateOptions);
  executions = createExecutionService({
    ...shared,
    workflowNames: {},
    unpaidExecutions: 'open',
    templates,
    media: client,
    bus,
    startWithinMs: 500,
  });
  const prune = async (limit: number) => void (await pruneKeys(tables, limit));
  sweep = { ...shared, prune, overdueAfterMs: OVERDUE_MS, maxWaitMs: HOUR_MS };
  worker = createExecutionWorker({ ...sweep, sweepEveryMs: 100 });
  await worker.start();
});
afterEach(async () => {
  await worker?.stop(1);
});
afterAll(async () => {
  await queue?.stop(1);
  await bus?.close();
  await database?.close();
  await home?.drop();
});

function request(change: Partial<ExecuteRequest> = {}): ExecuteRequest {
  const parameters = { prompt: 'a fox', extra: { kept: true } };
  return { code: 'poster', parameters, onBehalfOf: null, externalId: null, idempotencyKey: null, ...change };
}

const read = async (id: string): Promise<Execution> => {
  const execution = await executions.find(internalCaller('test'), { id });
  if (execution === null) throw new Error(`no execution ${id}`);
  return execution;
};

async function collect(events: AsyncIterable<ExecutionEvent>): Promise<ExecutionEvent[]> {
  const all: ExecutionEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

async function tellEnd(taskId: string, state: string): Promise<void> {
  await workflowDatabase(database)
    .transaction()
    .execute((transaction) => queue.enqueue(transaction, { queue: endedQueue, data: { taskId, state } }));
  queue.wake(endedQueue);
}

/** The start of an execution is due now. */
async function hastenStart(id: string): Promise<void> {
  await database.pool.query(`update queue.jobs set due_at = now() where data->>'executionId' = $1`, [id]);
  queue.wake(startQueue);
}

/** Makes an execution so old. */
async function age(id: string, ageMs: number): Promise<void> {
  await database.pool.query('update workflow.executions set created_at = $2 where id = $1', [
    id,
    new Date(Date.now() - ageMs),
  ]);
}

describe('executeTemplate', () => {
  it('hands the task to media at once, under the id it allocated', async () => {
    const execution = await executions.execute(anna, request());
    expect(execution).toMatchObject({ status: 'RUNNING', owner: 'usr_anna', userId: 'usr_anna' });
    expect(execution.parameters).toEqual({ prompt: 'a fox', extra: { kept: true }, aspectRatio: '2:3' });
    const task = media.tasks.get(execution.taskId);
    expect(task).toMatchObject({ owner: 'usr_anna', onEnd: 'workflow.task-ended', starts: 1 });
    expect(task?.start).toMatchObject({
      image: { generator: 'agg/imga', prompt: expect.stringMatching(/^a fox, bold/), aspectRatio: '2:3' },
    });
  });

  it.each([
    ['prompt', 'parameters.prompt'],
    ['image.url', 'parameters.imageUrl'],
    ['images', 'parameters.imageUrl'],
    ['inputs.width', 'parameters.width'],
    ['model', 'templateCode'],
    ['workflowName', 'templateCode'],
  ])("refuses what media would refuse: media's %s is %s", async (field, named) => {
    media.checking = badInput(field, 'must be something else');
    const mine = async () => executions.list(anna, { userId: null, first: 1000, after: null });
    const { items: before } = await mine();
    await expect(executions.execute(anna, request())).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      field: named,
      message: expect.stringContaining('must be something else'),
    });
    expect((await mine()).items).toEqual(before);
    expect(media.tasks.size).toBe(0);
  });

  it('takes what media can not check now, and lets it wait', async () => {
    media.checking = new AppError('UNAVAILABLE', 'away');
    media.starting = 'QUEUE_FULL';
    const { id } = await executions.execute(anna, request());
    expect(await read(id)).toMatchObject({ status: 'PENDING' });
  });

  it('refuses what the template does not take, naming every field, before anything is written', async () => {
    const before = await executions.list(anna, { userId: null, first: 1000, after: null });
    const wrong = request({ parameters: { prompt: 7, imageUrl: 'ftp://x', aspectRatio: '99:1' } });
    await expect(executions.execute(anna, wrong)).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      problems: [
        { field: 'parameters.prompt' },
        { field: 'parameters.imageUrl' },
        { field: 'parameters.aspectRatio' },
      ],
    });
    await expect(executions.execute(anna, request({ code: 'none' }))).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    await expect(executions.execute(anna, request({ parameters: [] }))).rejects.toMatchObject({
      field: 'parameters',
    });
    const unstorable = request({ parameters: { prompt: 'a fox', extra: ['\0'] } });
    await expect(executions.execute(anna, unstorable)).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'parameters',
    });
    await expect(executions.execute(anna, request({ externalId: 'a b' }))).rejects.toMatchObject({
      field: 'externalId',
    });
    await expect(executions.execute(anna, request({ onBehalfOf: 'usr_ben' }))).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
    const after = await executions.list(anna, { userId: null, first: 1000, after: null });
    expect(after.items).toHaveLength(before.items.length);
  });

  it('answers the same execution to the same key, also when twelve ask at once', async () => {
    const same = request({ idempotencyKey: 'twelve', parameters: { prompt: 'twelve foxes' } });
    const all = await Promise.all(Array.from({ length: 12 }, () => executions.execute(anna, same)));
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    // A late job of an execution of another test may start its task here.
    const tasks = [...media.tasks.values()].filter(({ start }) =>
      JSON.stringify(start).includes('twelve foxes'),
    );
    expect(tasks).toHaveLength(1);
    await expect(
      executions.execute(anna, request({ idempotencyKey: 'twelve', parameters: { prompt: 'other' } })),
    ).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
    expect((await executions.execute(ben, same)).id).not.toBe(all[0]?.id);
  });

  it("never answers a stranger's execution to an anonymous key", async () => {
    const other = anonymousCaller('test', '192.0.2.2');
    const first = await executions.execute(stranger, request({ idempotencyKey: 'k' }));
    expect((await executions.execute(stranger, request({ idempotencyKey: 'k' }))).id).toBe(first.id);
    expect((await executions.execute(other, request({ idempotencyKey: 'k' }))).id).not.toBe(first.id);
    const another = request({ idempotencyKey: 'k', parameters: { prompt: 'other' } });
    await expect(executions.execute(stranger, another)).rejects.toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    });
  });

  it('keeps an external id unique per owner, the same request again being the same execution', async () => {
    const first = await executions.execute(anna, request({ externalId: 'order.1' }));
    expect((await executions.execute(anna, request({ externalId: 'order.1' }))).id).toBe(first.id);
    const other = request({ externalId: 'order.1', parameters: { prompt: 'other' } });
    await expect(executions.execute(anna, other)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect((await executions.execute(ben, other)).id).not.toBe(first.id);
    expect((await executions.find(anna, { externalId: 'order.1' }))?.id).toBe(first.id);
  });

  it('answers PENDING when media hangs, and the backstop job starts it later, once', async () => {
    media.starting = 'hangs';
    const execution = await executions.execute(anna, request());
    expect(execution).toMatchObject({ status: 'PENDING', startedAt: null });
    media.starting = 'takes';
    await vi.waitFor(async () => expect((await read(execution.id)).status).toBe('RUNNING'), until);
    expect(media.tasks.get(execution.taskId)?.starts).toBe(1);
  });

  it('stays PENDING while media has no room', async () => {
    media.starting = 'QUEUE_FULL';
    const execution = await executions.execute(anna, request());
    expect(execution.status).toBe('PENDING');
    media.starting = 'takes';
    await hastenStart(execution.id);
    await vi.waitFor(async () => expect((await read(execution.id)).status).toBe('RUNNING'), until);
  });

  it('stays PENDING while media is an older one that does not know all of the work', async () => {
    const olderOnes = [
      // A member of the work, a value of an enum, an argument.
      (sdl: string) => sdl.replace('prompt: String! ', ''),
      (sdl: string) => sdl.replace('aspectRatio: String', 'aspectRatio: Ratio') + ' enum Ratio { WIDE }',
      (sdl: string) => sdl.replace(', sold: Boolean! = false): Task!', '): Task!'),
    ];
    const waiting = [];
    for (const older of olderOnes) {
      media.startsWith(older);
      waiting.push(await executions.execute(anna, request()));
    }
    expect(waiting.map(({ status }) => status)).toEqual(['PENDING', 'PENDING', 'PENDING']);
    media.startsWith((sdl) => sdl);
    for (const { id } of waiting) await hastenStart(id);
    for (const { id } of waiting)
      await vi.waitFor(async () => expect((await read(id)).status).toBe('RUNNING'), until);
  });

  it.each(['BAD_USER_INPUT', 'BUDGET_EXCEEDED'] as const)(
    'fails at once when media says %s',
    async (code) => {
      media.starting = code;
      const execution = await executions.execute(anna, request());
      expect(execution).toMatchObject({ status: 'FAILED', error: { code } });
      expect(execution.endedAt).toBeInstanceOf(Date);
    },
  );

  it('is not taken beyond a budget, and the refusal says when to come back', async () => {
    media.checking = new AppError('BUDGET_EXCEEDED', 'used up', { retryAfter: 7 });
    const refused = { code: 'BUDGET_EXCEEDED', retryAfter: 7 };
    await expect(executions.execute(anna, request())).rejects.toMatchObject(refused);
  });
});

describe('the end of an execution', () => {
  it('comes with the end event, and stays when the event comes twice', async () => {
    const { id, taskId } = await executions.execute(anna, request());
    media.move(taskId, { state: 'SUCCEEDED', stage: 'done', progress: 100 });
    await tellEnd(taskId, 'SUCCEEDED');
    await vi.waitFor(async () => expect((await read(id)).status).toBe('COMPLETED'), until);
    const { version } = await read(id);
    await tellEnd(taskId, 'SUCCEEDED');
    const failed = await executions.execute(anna, request());
    media.fail(failed.taskId, { code: 'MODERATION_REFUSED', message: 'no' });
    await tellEnd(failed.taskId, 'FAILED');
    await vi.waitFor(
      async () =>
        expect(await read(failed.id)).toMatchObject({
          status: 'FAILED',
          error: { code: 'MODERATION_REFUSED', message: 'no' },
        }),
      until,
    );
    expect((await read(id)).version).toBe(version);
  });

  it('is looked for again soon when its event comes before it, and is nothing to us for a task of others', async () => {
    const [, ended] = executionQueues(sweep);
    const tell = (data: JsonObject) => ended!.handler({ data } as Job);
    const { id, taskId } = await executions.execute(anna, request());
    expect(await tell({ taskId })).toEqual({ againInSeconds: 2 });
    media.move(taskId, { state: 'SUCCEEDED', stage: 'done', progress: 100 });
    expect(await tell({ taskId })).toBeUndefined();
    expect((await read(id)).status).toBe('COMPLETED');
    expect(await tell({ taskId: newId() })).toBeUndefined();
    expect(await tell({})).toBeUndefined();
  });
});

describe('an execution that is refunded in full', () => {
  async function refunded(id: string): Promise<void> {
    await workflowDatabase(database)
      .transaction()
      .execute((transaction) =>
        queue.enqueue(transaction, { queue: cancelQueue, data: { executionId: id } }),
      );
    queue.wake(cancelQueue);
  }

  it('is cancelled with its task', async () => {
    const { id, taskId } = await executions.execute(anna, request());
    await refunded(id);
    await age(id, OVERDUE_MS);
    await vi.waitFor(async () => expect((await read(id)).status).toBe('CANCELLED'), until);
    expect(media.tasks.get(taskId)?.events.at(-1)?.state).toBe('CANCELLED');
  });

  it('is not started any more, and what was on its way is cancelled', async () => {
    media.starting = 'QUEUE_FULL';
    const { id, taskId } = await executions.execute(anna, request());
    await refunded(id);
    await vi.waitFor(async () => expect((await read(id)).status).toBe('CANCELLED'), until);
    media.starting = 'takes';
    // A start that had read the execution before it was cancelled.
    const store = createExecutionStore(workflowDatabase(database));
    const client = createMediaClient(media.link);
    const late = createExecutionLifecycle({ store, media: client, bus, logger });
    const [cancelled] = await store.byIds([id]);
    await late.start({ ...cancelled!, status: 'PENDING' }, AbortSignal.timeout(100_000));
    expect(media.tasks.get(taskId)?.events.at(-1)?.state).toBe('CANCELLED');
  });
});

it('cancels at media, with the next try of its start, what was cancelled while that was on its way', async () => {
  media.starting = 'UNAVAILABLE';
  const { id, taskId } = await executions.execute(anna, request());
  const store = createExecutionStore(workflowDatabase(database));
  const lifecycle = createExecutionLifecycle({ store, media: createMediaClient(media.link), bus, logger });
  const stored = async () => (await store.byIds([id]))[0]!;
  await lifecycle.cancel(await stored());
  // Media took the start after that cancel, and its answer was lost.
  media.adopt(taskId);
  await lifecycle.start(await stored(), AbortSignal.timeout(100_000));
  expect(media.tasks.get(taskId)?.events.at(-1)?.state).toBe('CANCELLED');
});

it('is not refused by a later start of what media has already, whose answer was lost', async () => {
  media.starting = 'UNAVAILABLE';
  const { id, taskId } = await executions.execute(anna, request());
  media.adopt(taskId);
  // What it was started with has gone since, or that process of media does not know its generator.
  media.starting = 'NOT_CONFIGURED';
  media.reading = 'UNAVAILABLE';
  await hastenStart(id);
  const retries = async () =>
    (
      await database.pool.query<{ claims: number }>(
        `select claims from queue.jobs where queue = $1 and data->>'executionId' = $2`,
        [startQueue, id],
      )
    ).rows[0]?.claims;
  await vi.waitFor(async () => expect(await retries()).toBeGreaterThan(0), until);
  expect((await read(id)).status).toBe('PENDING');
  media.reading = 'takes';
  await hastenStart(id);
  await vi.waitFor(async () => expect((await read(id)).status).not.toBe('PENDING'), until);
  expect((await read(id)).status).toBe('RUNNING');
});

it('is cancelled at media when an earlier start was still on its way there as a later one was refused', async () => {
  media.starting = 'hangs';
  const { id, taskId } = await executions.execute(anna, request());
  media.starting = 'NOT_CONFIGURED';
  await hastenStart(id);
  await vi.waitFor(async () => expect((await read(id)).status).toBe('FAILED'), until);
  media.adopt(taskId);
  await vi.waitFor(async () => {
    await hastenStart(id);
    expect(media.tasks.get(taskId)?.events.at(-1)?.state).toBe('CANCELLED');
  }, until);
});

it('is cancelled with a later try while media does not answer', async () => {
  const { id, taskId } = await executions.execute(anna, request());
  const [, , cancel] = executionQueues(sweep);
  const again = () => cancel!.handler({ data: { executionId: id } } as unknown as Job);
  media.cancelling = 'UNAVAILABLE';
  await expect(again()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  // Too late to cancel is no failure.
  media.cancelling = 'TOO_LATE';
  await again();
  media.cancelling = 'takes';
  await again();
  expect(media.tasks.get(taskId)?.events.at(-1)?.state).toBe('CANCELLED');
});

describe('the sweep', () => {
  const forgetJob = (id: string) =>
    database.pool.query(`delete from queue.jobs where data->>'executionId' = $1`, [id]);

  it('finds an end whose event never came', async () => {
    const { id, taskId } = await executions.execute(anna, request());
    media.move(taskId, { state: 'CANCELLED', stage: 'cancelled', progress: 10 });
    await age(id, OVERDUE_MS);
    await vi.waitFor(
      async () => expect(await read(id)).toMatchObject({ status: 'CANCELLED', progress: 10 }),
      until,
    );
  });

  it('fails an execution whose task media has lost', async () => {
    const { id, taskId } = await executions.execute(anna, request());
    media.forget(taskId);
    await age(id, OVERDUE_MS);
    await vi.waitFor(
      async () => expect(await read(id)).toMatchObject({ status: 'FAILED', error: { code: 'LOST' } }),
      until,
    );
  });

  it('starts an execution whose job is gone, whether it was deleted or failed for good', async () => {
    media.starting = 'QUEUE_FULL';
    const { id: deleted } = await executions.execute(anna, request());
    const { id: failed } = await executions.execute(anna, request());
    await forgetJob(deleted);
    await database.pool.query(`update queue.jobs set state = 'failed' where data->>'executionId' = $1`, [
      failed,
    ]);
    media.starting = 'takes';
    for (const id of [deleted, failed]) {
      await age(id, OVERDUE_MS);
      await vi.waitFor(async () => expect((await read(id)).status).toBe('RUNNING'), until);
    }
  });

  it('goes on after one that can not be looked after, and ends where media is away', async () => {
    const [broken, fine] = [randomUUID(), randomUUID()].map((id) => ({ id, createdAt: new Date(0) }));
    const store = {
      ...sweep.store,
      openSince: async function* (status: string) {
        if (status === 'RUNNING') yield* [broken, fine] as StoredExecution[];
      },
    };
    const settled: string[] = [];
    const sweepWith = async (error: Error) => {
      settled.length = 0;
      const settle = async ({ id }: StoredExecution) => {
        settled.push(id);
        if (id === broken!.id) throw error;
        return 'ended' as const;
      };
      const lifecycle = { ...sweep.lifecycle, settle };
      await sweepExecutions({ ...sweep, store, lifecycle }, new AbortController().signal);
      return [...settled];
    };
    // It sweeps under the same lock.
    await worker.stop(1);
    expect(await sweepWith(new TypeError('a mistake'))).toEqual([broken!.id, fine!.id]);
    expect(await sweepWith(new AppError('UNAVAILABLE', 'media is away'))).toEqual([broken!.id]);
  });

  it('compares the jobs of many in parts, and leaves none of them without one', async () => {
    const waiting = Array.from({ length: 401 }, () => ({ id: newId(), createdAt: new Date() }));
    const store = {
      ...sweep.store,
      openSince: async function* (status: string) {
        if (status === 'PENDING') yield* waiting as StoredExecution[];
      },
    };
    const compared: unknown[][] = [];
    const withoutJob = async (_: string, data: readonly unknown[]) => {
      compared.push([...data]);
      return [];
    };
    await worker.stop(1);
    await sweepExecutions({ ...sweep, store, queue: { ...queue, withoutJob } }, new AbortController().signal);
    expect(compared.map(({ length }) => length)).toEqual([200, 200, 1]);
    expect(compared.flat()).toEqual(waiting.map(({ id }) => ({ executionId: id })));
  });

  it('ends what could not be started in time, also while media does not answer', async () => {
    media.starting = 'QUEUE_FULL';
    const { id } = await executions.execute(anna, request());
    await age(id, 2 * HOUR_MS);
    await vi.waitFor(
      async () => expect(await read(id)).toMatchObject({ status: 'FAILED', error: { code: 'TIMED_OUT' } }),
      until,
    );
  });

  it('marks as running what media has, although the answer of its start was lost', async () => {
    media.starting = 'QUEUE_FULL';
    const { id, taskId } = await executions.execute(anna, request());
    await forgetJob(id);
    media.adopt(taskId);
    await age(id, 2 * HOUR_MS);
    await vi.waitFor(async () => expect((await read(id)).status).toBe('RUNNING'), until);
  });

  it('forgets a key a day after the end, and keeps it until then', async () => {
    const tables = workflowDatabase(database);
    const readKeys = async (id: string) =>
      (await tables.selectFrom('workflow.idempotency').select('key').where('executionId', '=', id).execute())
        .length;
    const [old, fresh] = [
      await executions.execute(anna, request({ idempotencyKey: 'old' })),
      await executions.execute(anna, request({ idempotencyKey: 'fresh' })),
    ];
    for (const { taskId } of [old, fresh]) {
      media.move(taskId, { state: 'SUCCEEDED', stage: 'done', progress: 100 });
      await tellEnd(taskId, 'SUCCEEDED');
    }
    await vi.waitFor(async () => expect((await read(fresh.id)).status).toBe('COMPLETED'), until);
    await vi.waitFor(async () => expect((await read(old.id)).status).toBe('COMPLETED'), until);
    await tables
      .updateTable('workflow.executions')
      .set({ endedAt: new Date(Date.now() - 25 * 3_600_000) })
      .where('id', '=', old.id)
      .execute();
    await tables
      .updateTable('workflow.idempotency')
      .set({ createdAt: new Date(Date.now() - 26 * 3_600_000) })
      .execute();
    await vi.waitFor(async () => expect(await readKeys(old.id)).toBe(0), until);
    expect(await readKeys(fresh.id)).toBe(1);
  });
});

describe('executionProgress', () => {
  it("delivers the task's events in order and ends with an ended execution", async () => {
    const { id, taskId } = await executions.execute(anna, request());
    const events = await executions.watch(anna, id, 0, AbortSignal.timeout(100_000));
    media.move(taskId, { state: 'RUNNING', stage: 'rendering', progress: 50 });
    media.move(taskId, { state: 'SUCCEEDED', stage: 'done', progress: 100 });
    const all = await collect(events);
    expect(all.map(({ seq, status, progress }) => [seq, status, progress])).toEqual([
      [1, 'RUNNING', 0],
      [2, 'RUNNING', 50],
      [3, 'COMPLETED', 100],
    ]);
    expect(all[0]?.at).toBeInstanceOf(Date);
    // Without any end event: who has read the end finds it in the row.
    expect((await read(id)).status).toBe('COMPLETED');
    const rest = await collect(await executions.watch(anna, id, 2, AbortSignal.timeout(100_000)));
    expect(rest.map(({ seq }) => seq)).toEqual([3]);
  });

  it('is that of the execution also for who writes its id in large letters', async () => {
    media.starting = 'QUEUE_FULL';
    const { id } = await executions.execute(anna, request());
    const events = await executions.watch(anna, id.toUpperCase(), 0, AbortSignal.timeout(100_000));
    const first = events.next();
    media.starting = 'takes';
    await hastenStart(id);
    expect(await first).toMatchObject({ value: { status: 'RUNNING', executionId: id } });
    await events.return?.();
  });

  it('waits for a start that is still owed', async () => {
    media.starting = 'QUEUE_FULL';
    const { id, taskId } = await executions.execute(anna, request());
    const events = await executions.watch(anna, id, 0, AbortSignal.timeout(100_000));
    const first = events.next();
    media.starting = 'takes';
    await hastenStart(id);
    expect(await first).toMatchObject({ value: { seq: 1, status: 'RUNNING', executionId: id } });
    media.move(taskId, { state: 'CANCELLED', stage: 'cancelled', progress: 0 });
    expect(await events.next()).toMatchObject({ value: { status: 'CANCELLED' } });
    expect(await events.next()).toMatchObject({ done: true });
  });

  it('ends with one FAILED entry when the start was refused', async () => {
    media.starting = 'NOT_CONFIGURED';
    const { id } = await executions.execute(anna, request());
    const all = await collect(await executions.watch(anna, id, 0, AbortSignal.timeout(100_000)));
    expect(all).toMatchObject([{ seq: 1, status: 'FAILED', stage: 'refused' }]);
    expect(await collect(await executions.watch(anna, id, 1, AbortSignal.timeout(100_000)))).toEqual([]);
  });

  it('ends a pending next() at once when the subscriber leaves, and leaves no listener', async () => {
    const listeners = bus.listenerCount();
    const running = await executions.execute(anna, request());
    media.starting = 'QUEUE_FULL';
    const owed = await executions.execute(anna, request());
    const abort = new AbortController();
    for (const { id } of [running, owed]) {
      const events = await executions.watch(anna, id, 1, AbortSignal.timeout(100_000));
      const pending = events.next();
      await events.return?.();
      expect(await pending).toMatchObject({ done: true });
      const aborted = await executions.watch(anna, id, 1, abort.signal);
      const next = aborted.next();
      abort.abort();
      expect(await next).toMatchObject({ done: true });
    }
    await vi.waitFor(() => expect([bus.listenerCount(), media.watchers()]).toEqual([listeners, 0]), until);
  });

  it('reads together for a crowd that comes at once, and that all see the end at once', async () => {
    const { id, taskId } = await executions.execute(anna, request());
    let statements = 0;
    const count = () => (statements += 1);
    database.pool.on('acquire', count);
    const { signal } = new AbortController();
    const crowd = Array.from({ length: 500 }, async () =>
      collect(await executions.watch(anna, id, 0, signal)),
    );
    await vi.waitFor(() => expect(media.watchers()).toBe(500), until);
    media.move(taskId, { state: 'SUCCEEDED', stage: 'done', progress: 100 });
    const all = await Promise.all(crowd);
    database.pool.off('acquire', count);
    expect(new Set(all.map((events) => events.at(-1)?.status))).toEqual(new Set(['COMPLETED']));
    expect(statements).toBeLessThan(100);
  });

  it('says that there is none where media has lost the task', async () => {
    const { id, taskId } = await executions.execute(anna, request());
    media.forget(taskId);
    const events = await executions.watch(anna, id, 0, AbortSignal.timeout(100_000));
    await expect(collect(events)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('is not there for strangers', async () => {
    const { id } = await executions.execute(anna, request());
    await expect(executions.watch(ben, id, 0, AbortSignal.timeout(1000))).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});

describe('reading executions', () => {
  it('shows a task made for a user to that user, to the key that made it, and to nobody else', async () => {
    const made = await executions.execute(key, request({ onBehalfOf: 'usr_carla' }));
    expect(media.tasks.get(made.taskId)?.owner).toBe('usr_carla');
    const carla = user('usr_carla');
    const seen = async (caller: Caller) => (await executions.find(caller, { id: made.id })) !== null;
    expect([await seen(carla), await seen(key), await seen(ben), await seen(stranger)]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    const lists = await Promise.all(
      [carla, key, internalCaller('test'), { ...ben, scopes: ['admin'] }, ben].map((caller) =>
        executions.list(caller, { userId: 'usr_carla', first: 10, after: null }),
      ),
    );
    const whose = lists.map((page) => page.items.map(({ id }) => id));
    expect(whose).toEqual([[made.id], [made.id], [made.id], [made.id], []]);
  });

  it("keeps an anonymous claim out of the claimed user's list, and lists nothing without a caller", async () => {
    const dora = user('usr_dora');
    const claimed = await executions.execute(stranger, request({ onBehalfOf: 'usr_dora' }));
    expect(claimed.userId).toBe('usr_dora');
    expect((await executions.list(dora, { userId: null, first: 10, after: null })).items).toEqual([]);
    expect((await executions.list(stranger, { userId: null, first: 10, after: null })).items).toEqual([]);
    expect((await executions.find(stranger, { taskId: claimed.taskId }))?.id).toBe(claimed.id);
  });

  it('pages newest first', async () => {
    const emil = user('usr_emil');
    const ids: string[] = [];
    for (let index = 0; index < 3; index += 1) ids.unshift((await executions.execute(emil, request())).id);
    const first = await executions.list(emil, { userId: null, first: 2, after: null });
    expect([first.items.map(({ id }) => id), first.hasNextPage]).toEqual([ids.slice(0, 2), true]);
    const second = await executions.list(emil, { userId: null, first: 2, after: ids[1] ?? null });
    expect([second.items.map(({ id }) => id), second.hasNextPage]).toEqual([ids.slice(2), false]);
  });

  it('says nothing about tasks while media does not answer, and is answered all the same', async () => {
    const { taskId } = await executions.execute(anna, request());
    const unknown = newId();
    const queued = expect.objectContaining({ id: taskId, stage: 'queued' });
    expect(await executions.liveTasks([unknown, taskId])).toEqual([null, queued]);
    media.reading = 'UNAVAILABLE';
    expect(await executions.liveTasks([unknown, taskId])).toEqual([null, null]);
    expect(await executions.taskCosts([taskId])).toEqual([null]);
  });

  it('takes exactly one key, and answers null for what can be no id', async () => {
    await expect(executions.find(anna, {})).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    await expect(executions.find(anna, { id: 'x', taskId: 'y' })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
    });
    expect(await executions.find(anna, { id: 'x' })).toBeNull();
  });
});
