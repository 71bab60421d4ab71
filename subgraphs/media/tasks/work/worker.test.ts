import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';

import { sql } from 'kysely';
import { describe, expect } from 'vitest';

import { AppError } from '../../../../platform/errors.ts';
import { createOutboundRule } from '../../../../platform/http/safe-url.ts';
import { createHttpClient } from '../../../../platform/http/undici-http-client.ts';
import { newId } from '../../../../platform/ids.ts';
import { hashTaskId } from '../../domain/attempt.ts';
import { refusedCredentials, UpstreamError } from '../../domain/failure.ts';
import type { Binding } from '../../generators/bindings/binding.ts';
import type { Handle, Provider } from '../../providers/contract/provider.ts';
import { createStepPlanner } from '../../recipes/planner.ts';
import { STORE_QUEUE } from '../rules/queues.ts';
import { readAttempts } from '../storage/attempt-store.ts';
import { engineTest } from '../testing/engine-test.ts';
import { image, me, toRegistry, type TestEngine, until, giveUpStart } from '../testing/engine.ts';
import { PRICED, testBinding, testProvider } from '../testing/provider.ts';
import { PNG, startUpstream, type StartAnswer, type Upstream } from '../testing/upstream.ts';
import { createInputFetcher } from './start/input-files.ts';
import { createWorkerParts, type TaskWorkerOptions } from './worker.ts';

interface Parts {
  readonly engine: TestEngine;
  readonly upstream: Upstream;
}

interface SetupOptions {
  readonly provider?: Provider;
  readonly binding?: Partial<Binding>;
  readonly more?: readonly Binding[];
  readonly worker?: Partial<TaskWorkerOptions>;
}

async function startWorker(
  { engine, upstream }: Parts,
  { provider, binding, more = [], worker }: SetupOptions,
) {
  const first = testBinding('test#0', provider ?? testProvider(engine.http), upstream.url, binding);
  const registry = toRegistry(first, ...more);
  const service = engine.service(registry);
  return { service, registry, worker: await engine.worker(registry, worker) };
}

interface Fixtures {
  /** Starts a worker whose binding leads to the upstream, and a service. */
  readonly setUp: (options?: SetupOptions) => ReturnType<typeof startWorker>;
}

const it = engineTest.extend<Fixtures>({
  setUp: ({ engine, upstream }, use) => use((options = {}) => startWorker({ engine, upstream }, options)),
});

const attemptStates = async (service: Pick<ReturnType<TestEngine['service']>, 'attempts'>, id: string) =>
  (await service.attempts([id])).get(id)?.map((attempt) => attempt.state);

describe.concurrent('one task', () => {
  it('runs from its submission to its stored result', async ({ engine, upstream, setUp }) => {
    const { service } = await setUp();
    const task = await service.submit(me, image());
    expect(task).toMatchObject({ state: 'QUEUED', stage: 'queued', lastSeq: 1, owner: 'usr_me' });
    const ended = await engine.ended(service, task.id);
    expect(ended).toMatchObject({ state: 'SUCCEEDED', progress: 100, error: null });
    const [mediaId = ''] = ended.result?.mediaIds ?? [];
    expect(engine.files.stored.get(mediaId)).toMatchObject({ taskId: task.id, owner: 'usr_me' });
    const log = await service.events(task.id, 0, 100);
    expect(log.map((event) => event.seq)).toEqual(log.map((_, index) => index + 1));
    expect(log.at(-1)).toMatchObject({ state: 'SUCCEEDED', progress: 100, seq: ended.lastSeq });
    expect(log.map((event) => event.stage)).toContain('storing result');
    expect(upstream.starts).toEqual([`${hashTaskId(task.id)}/1/1`]);
  });

  it('ends as well after another release has added columns to its tables', async ({ engine, setUp }) => {
    const { service } = await setUp();
    // Every connection knows the statements by then.
    for (let times = 0; times < 4; times += 1) {
      await engine.ended(service, (await service.submit(me, image())).id);
    }
    for (const table of ['tasks', 'task_steps', 'task_events', 'attempts', 'usage']) {
      await sql`alter table media.${sql.raw(table)} add column of_a_later_release integer`.execute(
        engine.database,
      );
    }
    const task = await engine.ended(service, (await service.submit(me, image())).id);
    expect(task).toMatchObject({ state: 'SUCCEEDED', error: null });
    expect((await service.readMany(me, [task.id]))[0]).toMatchObject({ id: task.id });
    expect(await attemptStates(service, task.id)).toEqual(['SUCCEEDED']);
  });

  it('tells its progress, and says when that is an estimate', async ({ engine, upstream, setUp }) => {
    // The upstream goes on when what it said is in the log: what comes too fast is written together.
    const statuses = [
      { state: 'queued', position: 3 },
      { state: 'running', progress: null },
      { state: 'running', progress: 50 },
    ] as const;
    let told = 0;
    upstream.onStatus = () => statuses[told] ?? { state: 'finished' };
    const { service } = await setUp();
    const { id } = await service.submit(me, image());
    const written = [
      `stage = 'queued upstream, position 3'`,
      `stage = 'rendering' and progress_estimated`,
      `stage = 'rendering' and progress = 50 and not progress_estimated`,
    ];
    for (const entry of written) {
      const query = `select from media.task_events where task_id = $1 and ${entry}`;
      await until(async () => (await engine.pool.query(query, [id])).rowCount);
      told += 1;
    }
    await engine.ended(service, id);
    const log = await service.events(id, 0, 100);
    expect(log.every((event, index) => event.progress >= (log[index - 1]?.progress ?? 0))).toBe(true);
  });
});

describe.concurrent('the limit of a binding', () => {
  it('holds with two workers', async ({ engine, upstream, setUp }) => {
    upstream.onStatus = ({ polls }) =>
      polls < 4 ? { state: 'running', progress: 50 } : { state: 'finished' };
    const { service, registry } = await setUp({ binding: { concurrency: 1 } });
    await engine.worker(registry, { queue: await engine.anotherQueue() });
    const tasks = await Promise.all(Array.from({ length: 6 }, () => service.submit(me, image())));
    for (const task of tasks) expect((await engine.ended(service, task.id)).state).toBe('SUCCEEDED');
    expect(upstream.mostOpen()).toBe(1);
    expect(new Set(upstream.starts).size).toBe(6);
  });
});

describe.concurrent('fall-back', () => {
  it('goes to the next binding, and to the one after it, when a start is refused for now', async ({
    engine,
    upstream,
    setUp,
  }) => {
    const [second, third] = [await startUpstream(), await startUpstream()];
    for (const busy of [upstream, second]) busy.onStart = () => ({ status: 429 });
    const more = [second, third].map(({ url }, at) =>
      testBinding(`test#${at + 1}`, testProvider(engine.http, { name: `other${at}` }), url),
    );
    const told: string[] = [];
    const attemptEnded = (_attempt: unknown, { outcome }: { readonly outcome: string }) =>
      void told.push(outcome);
    const { service } = await setUp({ more, worker: { observer: { taskEnded: () => {}, attemptEnded } } });
    const { id } = await service.submit(me, image());
    expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
    expect(told).toEqual(['RATE_LIMITED', 'RATE_LIMITED', 'finished']);
    expect([second.starts, third.starts]).toEqual([[], [`${hashTaskId(id)}/1/3`]]);
    expect((await service.attempts([id])).get(id)).toMatchObject([
      { state: 'FAILED', provider: 'test', error: { code: 'RATE_LIMITED' } },
      { state: 'FAILED', provider: 'other0', error: { code: 'RATE_LIMITED' } },
      { state: 'SUCCEEDED', provider: 'other1' },
    ]);
    await Promise.all([second.close(), third.close()]);
  });

  it('goes to the next binding when running work is lost or stalls', async ({ engine, upstream, setUp }) => {
    const second = await startUpstream();
    upstream.onStatus = ({ prompt }) =>
      prompt === 'lost' ? { state: 'failed', retryable: true } : { state: 'running', progress: 10 };
    const more = [testBinding('test#1', testProvider(engine.http), second.url)];
    const { service } = await setUp({ binding: { attemptTimeoutSeconds: 0.3 }, more });
    for (const prompt of ['lost', 'stalls']) {
      const { id } = await service.submit(me, image(prompt));
      expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
      expect(await attemptStates(service, id)).toEqual(['FAILED', 'SUCCEEDED']);
    }
    expect(upstream.cancels).toHaveLength(1);
    await second.close();
  });

  it('asks another provider at once, and the same one again when that says', async ({
    engine,
    upstream,
    setUp,
  }) => {
    const second = await startUpstream();
    upstream.onStart = () => ({ status: 429, retryAfter: 50 });
    const alone = testBinding('alone#0', testProvider(engine.http), upstream.url, { budgetSeconds: 600 });
    const { service } = await setUp({
      more: [testBinding('test#1', testProvider(engine.http), second.url), alone],
    });
    const { id } = await service.submit(me, image());
    expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
    const stages = async (taskId: string) => (await service.events(taskId, 0, 100)).map(({ stage }) => stage);
    expect((await stages(id)).filter((stage) => /again|provider/.test(stage))).toEqual(['trying again']);
    const work = { kind: 'IMAGE', generator: 'alone', prompt: 'a fox' } as const;
    const waits = await service.submit(me, image('', { work }));
    await until(async () =>
      (await stages(waits.id)).some((stage) => /^provider busy, next try in (5\d|6\d|7[0-5]) s$/.test(stage)),
    );
    await second.close();
  });

  it('tries a single binding again a bounded number of times when that may cost something', async ({
    engine,
    upstream,
    setUp,
  }) => {
    upstream.onStatus = () => ({ state: 'failed', retryable: true });
    const { service } = await setUp({ worker: { maxAttempts: 2 } });
    const { id } = await service.submit(me, image());
    const ended = await engine.ended(service, id);
    expect(ended).toMatchObject({ state: 'FAILED', error: { code: 'UNAVAILABLE', retryable: true } });
    expect(await attemptStates(service, id)).toEqual(['FAILED', 'FAILED']);
  });

  it('waits for a single binding that begins nothing, within its budget', async ({
    engine,
    upstream,
    setUp,
  }) => {
    let refusals = 2;
    upstream.onStart = ({ prompt }) => (prompt === 'late' || refusals-- > 0 ? { status: 429 } : 'accept');
    const { service } = await setUp({ binding: { budgetSeconds: 30 }, worker: { maxAttempts: 1 } });
    const { id } = await service.submit(me, image());
    expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
    expect(await attemptStates(service, id)).toEqual(['FAILED', 'FAILED', 'SUCCEEDED']);
    const stages = (await service.events(id, 0, 100)).map(({ stage }) => stage);
    expect(stages).toContainEqual(expect.stringMatching(/^provider busy, next try in \d+ s$/));
    const impatient = testBinding('hasty#0', testProvider(engine.http), upstream.url, { budgetSeconds: 0 });
    const other = engine.service(toRegistry(impatient));
    const queue = await engine.anotherQueue();
    await engine.worker(toRegistry(impatient), { queue });
    const work = { kind: 'IMAGE', generator: 'hasty', prompt: 'late' } as const;
    const late = await other.submit(me, image('late', { work }));
    expect(await engine.ended(other, late.id)).toMatchObject({ error: { code: 'RATE_LIMITED' } });
    expect(await attemptStates(other, late.id)).toEqual(['FAILED']);
  });

  it('counts its budget from the start of the step, however old the task is', async ({
    engine,
    upstream,
    setUp,
  }) => {
    let refusals = 1_000;
    upstream.onStart = () => (refusals-- > 0 ? { status: 429 } : 'accept');
    const { service } = await setUp({ binding: { budgetSeconds: 60 }, worker: { maxAttempts: 1 } });
    const { id } = await service.submit(me, image());
    await until(async () => (await attemptStates(service, id))?.includes('FAILED'));
    const older = `update media.tasks set created_at = created_at - interval '1 hour' where id = $1`;
    await engine.pool.query(older, [id]);
    refusals = 1;
    expect(await engine.ended(service, id)).toMatchObject({ state: 'SUCCEEDED', error: null });
  });

  it('waits for a provider that is away, longer and longer, and no longer than its budget', async ({
    engine,
    upstream,
    setUp,
  }) => {
    const breaker = { pauseMs: () => 1_000, admit: () => false, waitMs: () => 1_000 };
    const provider = testProvider(engine.http);
    const more = [testBinding('hasty#0', provider, upstream.url, { budgetSeconds: 0, breaker })];
    const { service } = await setUp({ binding: { budgetSeconds: 600, breaker }, more });
    const { id } = await service.submit(me, image());
    const work = { kind: 'IMAGE', generator: 'hasty', prompt: 'late' } as const;
    const hasty = await service.submit(me, image('late', { work }));
    const isTold = async (words: RegExp) =>
      (await service.events(id, 0, 100)).some((event) => words.test(event.stage));
    await until(() => isTold(/^provider away, next try in [12] s$/));
    // By then it has waited for three times eight seconds.
    const earlier = `update media.task_steps set started_at = now() - interval '24 seconds' where task_id = $1`;
    await engine.pool.query(earlier, [id]);
    await until(() => isTold(/^provider away, next try in [4-7] s$/));
    expect((await engine.ended(service, hasty.id)).error).toEqual({
      code: 'UNAVAILABLE',
      message: 'no provider of "hasty" took it within 0 s; submit it again later',
      retryable: true,
    });
    expect([upstream.starts, await attemptStates(service, hasty.id)]).toEqual([[], []]);
  });

  it('asks no binding whose upstream has refused its credentials, and ends when no other is left', async ({
    engine,
    setUp,
  }) => {
    const plain = testProvider(engine.http);
    const job = plain.jobs?.IMAGE;
    if (job === undefined) throw new Error('no job');
    const start = () => Promise.reject(refusedCredentials('the key is wrong'));
    const { service } = await setUp({ provider: { ...plain, jobs: { IMAGE: { ...job, start } } } });
    const { id } = await service.submit(me, image());
    expect((await engine.ended(service, id)).error).toMatchObject({ message: 'the key is wrong' });
    expect(await attemptStates(service, id)).toEqual(['FAILED']);
  });

  it('ends at once when no other attempt could help', async ({ engine, upstream, setUp }) => {
    upstream.onStart = () => ({ status: 400 });
    const { service } = await setUp();
    const { id } = await service.submit(me, image());
    expect(await engine.ended(service, id)).toMatchObject({
      state: 'FAILED',
      error: { code: 'MODERATION_REFUSED', message: 'refused', retryable: false },
    });
    expect(await attemptStates(service, id)).toEqual(['FAILED']);
  });
});

describe.concurrent('a start of which nobody knows whether it happened', () => {
  it('is found at an upstream that can be asked', async ({ engine, upstream, setUp }) => {
    upstream.onStart = () => 'accept-then-cut';
    const { service } = await setUp();
    const { id } = await service.submit(me, image());
    expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
    expect(upstream.starts).toEqual([`${hashTaskId(id)}/1/1`]);
  });

  it('is looked for twice, later while its upstream is away, and no longer than its budget', async ({
    engine,
    upstream,
  }) => {
    const plain = testProvider(engine.http);
    const job = plain.jobs?.IMAGE;
    if (job === undefined) throw new Error('no job');
    const answers: (Handle | 'absent' | Error)[] = [];
    let finds = 0;
    let pauseMs = 0;
    const find = async () => {
      finds += 1;
      const answer = answers.shift() ?? 'absent';
      if (answer instanceof Error) throw answer;
      return answer;
    };
    const breaker = { pauseMs: () => pauseMs, admit: () => true, waitMs: () => 0 };
    const provider = { ...plain, jobs: { IMAGE: { ...job, find } } };
    const registry = toRegistry(
      testBinding('test#0', provider, upstream.url, { breaker, budgetSeconds: 60 }),
    );
    const planner = createStepPlanner(registry, {});
    const { recovery } = createWorkerParts({ ...engine, registry, planner, limits: { findGraceMs: 1 } });
    const { id } = await engine.service(registry).submit(me, image());
    const recover = async (secondsAgo: number, ...given: readonly (Handle | 'absent' | Error)[]) => {
      answers.splice(0, answers.length, ...given);
      finds = 0;
      await engine.pool.query(`update media.task_steps set state = 'RUNNING'; delete from media.attempts`);
      await engine.pool.query(
        `insert into media.attempts (task_id, step, number, binding, provider, reference, claim, claimed_at, started_at)
         values ($1, 1, 1, 'test#0', 'test', 'sought', gen_random_uuid(), now() - interval '1 hour',
           now() - make_interval(secs => $2))`,
        [id, secondsAgo],
      );
      const read = async () => (await readAttempts(engine.database, [id])).at(0);
      const attempt = await read();
      if (attempt === undefined) throw new Error('no attempt');
      const isDecided = await recovery.recover(attempt);
      return [isDecided, (await read())?.state, finds];
    };
    const away = new Error('no answer');
    expect(await recover(0, { id: 'one' })).toEqual([true, 'RUNNING', 1]);
    expect(await recover(0, 'absent', { id: 'two' })).toEqual([true, 'RUNNING', 2]);
    expect(await recover(0, away)).toEqual([false, 'STARTING', 1]);
    pauseMs = 1_000;
    expect(await recover(0, { id: 'three' })).toEqual([false, 'STARTING', 0]);
    expect(await recover(61, { id: 'four' })).toEqual([true, 'RUNNING', 1]);
    pauseMs = 0;
    expect(await recover(61, 'absent', 'absent')).toEqual([true, 'FAILED', 2]);
    expect(await recover(61, away)).toEqual([true, 'UNKNOWN', 1]);
  });

  it('is taken over although another one can not be looked after', async ({ engine, upstream }) => {
    const registry = toRegistry(
      testBinding('test#0', testProvider(engine.http, { find: false }), upstream.url),
    );
    const service = engine.service(registry);
    const [odd, other] = [await service.submit(me, image()), await service.submit(me, image())];
    for (const [minutes, { id }] of [odd, other].entries())
      await engine.pool.query(
        `insert into media.attempts (task_id, step, number, binding, provider, reference, claim, claimed_at)
         values ($1::uuid, 1, 1, 'test#0', 'test', $1::text, gen_random_uuid(), now() - interval '1 hour' + make_interval(mins => $2))`,
        [id, minutes],
      );
    const told: unknown[] = [];
    const { recovery } = createWorkerParts({
      ...engine,
      registry: {
        ...registry,
        ofAttempt(attempt) {
          if ('taskId' in attempt && attempt.taskId === odd.id) throw new Error('nobody can read it');
          return registry.ofAttempt(attempt);
        },
      },
      planner: createStepPlanner(registry, {}),
      logger: { ...engine.logger, error: (...line: readonly unknown[]) => void told.push(line[1]) },
    });
    await recovery.sweep();
    expect(await attemptStates(service, other.id)).toEqual(['UNKNOWN']);
    expect(await attemptStates(service, odd.id)).toEqual(['STARTING']);
    expect(told).toEqual(['an abandoned start could not be looked after']);
  });

  it('is followed by another attempt when the upstream certainly does not have it', async ({
    engine,
    upstream,
    setUp,
  }) => {
    let cuts = 0;
    upstream.onStart = () => (cuts++ === 0 ? 'cut' : 'accept');
    const { service } = await setUp();
    const { id } = await service.submit(me, image());
    expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
    expect(upstream.starts).toEqual([`${hashTaskId(id)}/1/2`]);
  });

  it('is named START_UNKNOWN where the upstream can not be asked', async ({ engine, upstream, setUp }) => {
    upstream.onStart = () => 'accept-then-cut';
    const { service } = await setUp({ provider: testProvider(engine.http, { find: false }) });
    const { id } = await service.submit(me, image());
    expect(await engine.ended(service, id)).toMatchObject({
      state: 'FAILED',
      error: { code: 'START_UNKNOWN', message: expect.stringContaining('(no answer)') },
    });
    expect(await attemptStates(service, id)).toEqual(['UNKNOWN']);
    expect(upstream.starts).toHaveLength(1);
  });

  it('is started again where its binding allows it', async ({ engine, upstream, setUp }) => {
    let cuts = 0;
    upstream.onStart = () => (cuts++ === 0 ? 'accept-then-cut' : 'accept');
    const provider = testProvider(engine.http, { find: false });
    const { service } = await setUp({ provider, binding: { retryUnknownStart: true } });
    const { id } = await service.submit(me, image());
    expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
    expect(await attemptStates(service, id)).toEqual(['UNKNOWN', 'SUCCEEDED']);
    // Nobody else is told to try it again.
    const [unknown] = (await service.attempts([id])).get(id) ?? [];
    expect(unknown?.error).toMatchObject({ code: 'START_UNKNOWN', retryable: false });
  });

  it('of a worker that is gone is taken over: found, or named', async ({ engine, upstream, setUp }) => {
    const { service } = await setUp({ worker: { limits: { claimStaleSeconds: 3_600 } } });
    upstream.onStatus = () => ({ state: 'running', progress: 1 });
    const { id } = await service.submit(me, image());
    await until(async () => upstream.starts.length === 1);
    await until(async () => (await attemptStates(service, id))?.[0] === 'RUNNING');
    // As a worker leaves it that was killed between the answer and the saving of the handle.
    await engine.pool.query(
      `update media.attempts set state = 'STARTING', handle = null, next_poll_at = null,
      claim = gen_random_uuid(), claimed_at = now() - interval '1 minute' where task_id = $1`,
      [id],
    );
    upstream.onStatus = () => ({ state: 'finished' });
    const { queue } = engine;
    await engine.worker(toRegistry(testBinding('test#0', testProvider(engine.http), upstream.url)), {
      queue: { ...queue, work: async () => ({ wake() {}, hasten: async () => {}, stop: async () => {} }) },
    });
    expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
    expect(upstream.starts).toHaveLength(1);
  });

  describe('that comes back after its claim was lost', () => {
    /** While the start is under way another worker takes over, and leaves the attempt as `change` says. */
    const takenOver = (change: string, { engine, upstream }: Parts): void => {
      upstream.onStart = async ({ id, reference }): Promise<StartAnswer> => {
        await engine.pool.query(
          `update media.attempts set claim = gen_random_uuid() ${change} where reference = $1 and $2 <> ''`,
          [reference, id],
        );
        return 'accept';
      };
    };

    it('is discarded and cancelled when the others have given it up', async ({ engine, upstream, setUp }) => {
      const { service } = await setUp();
      upstream.onStart = async ({ reference }): Promise<StartAnswer> => {
        await giveUpStart(engine, reference);
        return 'accept';
      };
      const { id } = await service.submit(me, image());
      await until(async () => upstream.cancels.length === 1);
      expect(upstream.cancels).toEqual([`${hashTaskId(id)}/1/1`]);
      await until(async () => (await attemptStates(service, id))?.[0] === 'FAILED');
    });

    it('is left to the others when they have found it', async ({ engine, upstream, setUp }) => {
      takenOver(`, state = 'RUNNING', handle = jsonb_build_object('id', $2::text), next_poll_at = now()`, {
        engine,
        upstream,
      });
      const { service } = await setUp();
      const { id } = await service.submit(me, image());
      expect(await engine.ended(service, id)).toMatchObject({ state: 'SUCCEEDED' });
      expect([upstream.starts, upstream.cancels]).toEqual([[`${hashTaskId(id)}/1/1`], []]);
    });

    it('counts while the others have not decided', async ({ engine, upstream, setUp }) => {
      takenOver('', { engine, upstream });
      const { service } = await setUp({ worker: { limits: { claimStaleSeconds: 3_600 } } });
      const { id } = await service.submit(me, image());
      expect(await engine.ended(service, id)).toMatchObject({ state: 'SUCCEEDED' });
      expect([upstream.starts, upstream.cancels]).toEqual([[`${hashTaskId(id)}/1/1`], []]);
    });
  });
});

describe.concurrent('cancelling', () => {
  it('stops running work upstream', async ({ engine, upstream, setUp }) => {
    upstream.onStatus = () => ({ state: 'running', progress: 30 });
    const { service } = await setUp();
    const { id } = await service.submit(me, image());
    await until(async () => (await service.readMany(me, [id]))[0]?.progress === 30);
    const cancelling = await service.cancel(me, id);
    expect(cancelling).toMatchObject({ state: 'RUNNING', stage: 'cancelling' });
    expect(await engine.ended(service, id)).toMatchObject({ state: 'CANCELLED', error: null });
    expect(upstream.cancels).toHaveLength(1);
    expect(await attemptStates(service, id)).toEqual(['CANCELLED']);
  });

  it('ends the task where the upstream can not cancel, discards its late result, and counts what it costs', async ({
    engine,
    upstream,
    setUp,
  }) => {
    upstream.onStatus = () => ({ state: 'running', progress: 30 });
    const provider = testProvider(engine.http, { cancel: false });
    const { service } = await setUp({ provider, binding: { prices: PRICED } });
    const { id } = await service.submit(me, image());
    await until(async () => (await service.readMany(me, [id]))[0]?.progress === 30);
    await service.cancel(me, id);
    expect(await engine.ended(service, id)).toMatchObject({ state: 'CANCELLED', result: null });
    const [attempt] = (await service.attempts([id])).get(id) ?? [];
    expect(attempt).toMatchObject({
      state: 'CANCELLED',
      error: { message: expect.stringContaining('discarded') },
      cost: { microUnits: 20_000, currency: 'USD' },
    });
  });

  it('waits for the handle of a start that is under way', async ({ engine, upstream, setUp }) => {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    upstream.onStart = async (): Promise<StartAnswer> => {
      await released;
      return 'accept';
    };
    upstream.onStatus = () => ({ state: 'running', progress: 1 });
    const { service } = await setUp();
    const { id } = await service.submit(me, image());
    await until(async () => (await attemptStates(service, id))?.[0] === 'STARTING');
    await until(async () => {
      const { rows } = await engine.pool.query('select 1 from media.attempts where claim is not null');
      return rows.length === 1;
    });
    await service.cancel(me, id);
    release();
    expect((await engine.ended(service, id)).state).toBe('CANCELLED');
    expect(upstream.cancels).toEqual([`${hashTaskId(id)}/1/1`]);
  });

  it('stops no work that its upstream does together with that of others', async ({
    engine,
    upstream,
    setUp,
  }) => {
    upstream.onStatus = () => ({ state: 'running', progress: 5 });
    const plain = testProvider(engine.http);
    const job = plain.jobs?.IMAGE;
    if (job === undefined) throw new Error('no job');
    const start: typeof job.start = async (request, call) => {
      const batch = request.kind === 'IMAGE' && request.prompt === 'apart' ? 'another' : 'one';
      return { ...(await job.start(request, call)), batch };
    };
    const provider = { ...plain, jobs: { IMAGE: { ...job, start, sharedBy: 'batch' } } };
    const { service } = await setUp({ provider, binding: { prices: PRICED } });
    const ids: string[] = [];
    for (const prompt of ['first', 'second', 'apart']) {
      const { id } = await service.submit(me, image(prompt));
      await until(async () => (await attemptStates(service, id))?.[0] === 'RUNNING');
      ids.push(id);
    }
    const ends: unknown[] = [];
    for (const id of ids) {
      await service.cancel(me, id);
      expect((await engine.ended(service, id)).state).toBe('CANCELLED');
      const [attempt] = (await service.attempts([id])).get(id) ?? [];
      ends.push([attempt?.error?.message, attempt?.cost?.microUnits]);
    }
    expect(upstream.cancels).toEqual(ids.slice(1).map((id) => `${hashTaskId(id)}/1/1`));
    // Whether the first is still done is up to the others.
    expect(ends).toEqual([
      ['cancelled here; this upstream can not cancel, so its late result is discarded', null],
      ['cancelled', 0],
      ['cancelled', 0],
    ]);
  });

  it('ends what its upstream has finished in the meantime', async ({ engine, upstream, setUp }) => {
    const { provider, binding } = resultsAt(upstream.url, { engine, upstream });
    const job = provider.jobs.IMAGE;
    const cancelled = Promise.withResolvers<void>();
    const status: typeof job.status = async () => {
      await cancelled.promise;
      return job.status();
    };
    const { service } = await setUp({
      provider: { ...provider, jobs: { IMAGE: { ...job, status } } },
      binding,
      worker: { limits: { statusTimeoutMs: 60_000, leaseSeconds: 60 } },
    });
    const { id } = await service.submit(me, image());
    await until(async () => (await attemptStates(service, id))?.[0] === 'RUNNING');
    await service.cancel(me, id);
    cancelled.resolve();
    expect(await engine.ended(service, id)).toMatchObject({ state: 'CANCELLED', result: null });
    expect(await attemptStates(service, id)).toEqual(['CANCELLED']);
    expect(engine.files.stored.size).toBe(0);
  });

  it('comes too late while the result is stored, and after the end', async ({ engine, upstream, setUp }) => {
    let release = (): void => {};
    let requested = false;
    const slow = createServer((_request, response) => {
      requested = true;
      release = () => response.writeHead(200, { 'content-type': 'image/png' }).end(PNG);
    });
    await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
    const { port } = slow.address() as AddressInfo;
    const { service } = await setUp(resultsAt(`http://127.0.0.1:${port}`, { engine, upstream }));
    const { id } = await service.submit(me, image());
    await until(async () => (await service.readMany(me, [id]))[0]?.stage === 'storing result');
    await expect(service.cancel(me, id)).rejects.toMatchObject({ code: 'TOO_LATE' });
    await until(async () => requested);
    release();
    expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
    await expect(service.cancel(me, id)).rejects.toMatchObject({ code: 'TOO_LATE' });
    slow.closeAllConnections();
    slow.close();
  });
});

/** A setup whose upstream finishes at once, with a result at another server that it trusts. */
function resultsAt(origin: string, { engine, upstream }: Parts) {
  const provider = testProvider(engine.http);
  const job = provider.jobs?.IMAGE;
  if (job === undefined) throw new Error('no job');
  const outcome = { files: [{ url: `${origin}/slow.png` }], texts: [] };
  const finished = { ...job, status: async () => ({ state: 'finished', outcome }) as const };
  const plain = testBinding('test#0', provider, upstream.url).connection;
  return {
    provider: { name: 'slow', jobs: { IMAGE: finished } },
    binding: { connection: { ...plain, resultOrigins: [origin] } },
  };
}

/** A server that sends an image byte by byte, endlessly. */
async function openDripping() {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'image/png' });
    const drip = setInterval(() => response.write('x'), 20);
    response.once('close', () => clearInterval(drip));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe.concurrent('storing the result', () => {
  it('says that its address is refused, with the settings that would allow it, and asks nobody', async ({
    engine,
    upstream,
    setUp,
  }) => {
    const { provider } = resultsAt('http://127.0.0.1:9', { engine, upstream });
    const { service } = await setUp({ provider });
    const { id } = await service.submit(me, image());
    const { state, error } = await engine.ended(service, id);
    expect([state, error?.code]).toEqual(['FAILED', 'STORAGE_FAILED']);
    expect(error?.message).toMatch(/REFUSED_ADDRESS: .* is not public; .*resultOrigins.*OUTBOUND_ALLOW/);
  });

  it('ends a download that comes byte by byte for ever', async ({ engine, upstream, setUp }) => {
    const dripping = await openDripping();
    const { service } = await setUp({
      ...resultsAt(`http://${dripping.host}`, { engine, upstream }),
      worker: { limits: { resultTimeoutMs: 300, maxStoreTries: 2 } },
    });
    const { id } = await service.submit(me, image());
    expect(await engine.ended(service, id)).toMatchObject({
      state: 'FAILED',
      error: { code: 'STORAGE_FAILED', message: expect.stringContaining('did not come within 0.3 s') },
    });
    dripping.close();
  });

  it('is tried again after a cut, a wrong answer and an expired address', async ({
    engine,
    upstream,
    setUp,
  }) => {
    let tries = 0;
    upstream.onFile = () => {
      tries += 1;
      if (tries === 1) return { status: 403, body: Buffer.from('expired') };
      if (tries === 2) return { status: 200, body: Buffer.from('<html>sorry</html>') };
      return { status: 200, body: PNG, headers: { 'content-type': 'application/x-wrong' } };
    };
    const { service } = await setUp();
    const { id } = await service.submit(me, image());
    expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
    expect(tries).toBe(3);
  });

  it('fails as STORAGE_FAILED when no try brings it, without another start', async ({
    engine,
    upstream,
    setUp,
  }) => {
    upstream.onFile = () => ({ status: 404, body: Buffer.from('gone') });
    const { service } = await setUp({ worker: { limits: { maxStoreTries: 2 } } });
    const { id } = await service.submit(me, image());
    expect(await engine.ended(service, id)).toMatchObject({
      state: 'FAILED',
      error: { code: 'STORAGE_FAILED', message: expect.stringContaining('404') },
    });
    expect(upstream.starts).toHaveLength(1);
  });

  it('fails with what the upstream says of its work when its result is asked for anew, or when that lacks its end', async ({
    engine,
    upstream,
    setUp,
  }) => {
    const { service } = await setUp({
      binding: { budgetSeconds: 0 },
      worker: { limits: { maxStoreTries: 2 } },
    });
    upstream.onFile = (name) =>
      name === 'cut.png'
        ? { status: 200, body: PNG.subarray(0, -12) }
        : { status: 403, body: Buffer.from('expired') };
    upstream.onStatus = ({ prompt, polls }) => {
      if (polls === 1 || prompt === 'cut') return { state: 'finished', files: [`${prompt}.png`] };
      return prompt === 'failed' ? { state: 'failed', retryable: false } : { state: 'running', progress: 5 };
    };
    const told = [
      ['failed', 'it broke'],
      ['running', 'the upstream says running of work that it had finished'],
      ['cut', 'its end is missing'],
    ] as const;
    for (const [prompt, words] of told) {
      const { id } = await service.submit(me, image(prompt));
      expect((await engine.ended(service, id)).error).toMatchObject({
        code: 'STORAGE_FAILED',
        message: expect.stringContaining(words),
      });
    }
  });

  it('takes as many bytes as were promised, and no fewer', async ({ engine, upstream, setUp }) => {
    const headers = { 'content-type': 'image/png', 'content-length': String(PNG.length) };
    upstream.onFile = () => ({ status: 200, body: PNG, headers });
    const { service } = await setUp({ worker: { limits: { maxStoreTries: 1 } } });
    const whole = await service.submit(me, image());
    expect((await engine.ended(service, whole.id)).state).toBe('SUCCEEDED');
    const store = engine.files.store.bind(engine.files);
    engine.files.store = async (file) => ({ ...(await store(file)), bytes: 60 });
    const cut = await service.submit(me, image());
    expect((await engine.ended(service, cut.id)).error).toMatchObject({
      code: 'STORAGE_FAILED',
      message: expect.stringContaining(`it was cut: 60 of ${PNG.length} bytes came`),
    });
  });

  it('is left to whoever has moved the step or ended the task in the meantime', async ({
    engine,
    upstream,
    setUp,
  }) => {
    const moves = {
      'another has stored it': `update media.task_steps set state = 'SUCCEEDED' where task_id = $1`,
      'it has ended': `update media.tasks set state = 'CANCELLED', ended_at = now() where id = $1`,
    };
    const store = engine.files.store.bind(engine.files);
    let move: () => Promise<unknown> = async () => undefined;
    let isStored = true;
    engine.files.store = async (file) => {
      await move();
      if (!isStored) throw new AppError('PAYLOAD_TOO_LARGE', 'too large');
      return store(file);
    };
    const { service } = await setUp();
    const completed = `select from queue.jobs where queue = 'media.store-result' and state = 'completed'`;
    let jobs = 0;
    for (const statement of Object.values(moves))
      for (const stored of [true, false]) {
        isStored = stored;
        const known = Promise.withResolvers<string>();
        move = async () => engine.pool.query(statement, [await known.promise]);
        const { id } = await service.submit(me, image());
        known.resolve(id);
        await until(async () => (await engine.pool.query(completed)).rowCount === jobs + 1);
        jobs += 1;
        const [task] = await service.readMany(me, [id]);
        expect([task?.stage, task?.error, task?.result]).toEqual(['storing result', null, null]);
      }
    // A job that comes twice finds nothing to do.
    move = async () => undefined;
    isStored = true;
    const { id } = await service.submit(me, image());
    await engine.ended(service, id);
    await until(async () => (await engine.pool.query(completed)).rowCount === jobs + 1);
    const before = engine.files.stored.size;
    await engine.pool.query(`update media.task_steps set stored = '{}', finished = $2 where task_id = $1`, [
      id,
      JSON.stringify({ urls: [`${upstream.url}/files/x.png`], texts: [], facts: {} }),
    ]);
    await engine.pool.query(
      `update queue.jobs set state = 'waiting', due_at = now() where queue = 'media.store-result' and data->>'taskId' = $1`,
      [id],
    );
    await until(async () => (await engine.pool.query(completed)).rowCount === jobs + 1);
    expect(engine.files.stored.size).toBe(before);
  });

  it('fails at once for a result that is too large', async ({ engine, setUp }) => {
    const { service } = await setUp({ worker: { limits: { maxOutputBytes: 10 } } });
    const { id } = await service.submit(me, image());
    expect(await engine.ended(service, id)).toMatchObject({
      error: { code: 'STORAGE_FAILED', message: expect.stringContaining('larger than 10 bytes') },
    });
  });

  it('is tried again after longer and longer, and waits for what is away', async ({ engine, upstream }) => {
    const lines: unknown[] = [];
    const warn = (...line: unknown[]) => void lines.push(line[1]);
    const { connection, ...plain } = testBinding('test#0', testProvider(engine.http), upstream.url);
    const away = 'http://127.0.0.1:1';
    const registry = toRegistry({ ...plain, connection: { ...connection, resultOrigins: [away] } });
    const planner = createStepPlanner(registry, {});
    const limits = { maxStoreTries: 4, storePauseSeconds: 30 };
    const logger = { ...engine.logger, warn };
    const { queues } = createWorkerParts({ ...engine, registry, planner, logger, limits });
    const service = engine.service(registry);
    const { id } = await service.submit(me, image());
    const storing = async (url: string, secondsAgo: number) => {
      await engine.pool.query(`update media.task_steps set state = 'STORING', finished = $1`, [
        JSON.stringify({ urls: [url], texts: [], facts: {} }),
      ]);
      await engine.pool.query(
        `insert into media.attempts (task_id, step, number, binding, provider, reference, state, ended_at)
         values ($1, 1, 1, 'test#0', 'test', 'stored', 'SUCCEEDED', now() - make_interval(secs => $2))
         on conflict (task_id, step, number) do update set ended_at = excluded.ended_at`,
        [id, secondsAgo],
      );
      const job = { data: { taskId: id, step: 1 }, signal: new AbortController().signal } as never;
      return queues.find(({ queue }) => queue === STORE_QUEUE)?.handler(job);
    };
    const there = `${upstream.url}/files/x.png`;
    for (const [ago, againInSeconds] of [
      [-30, 1],
      [5, expect.toSatisfy((seconds: number) => seconds >= 6 && seconds < 30)],
      [40, 30],
    ] as const) {
      engine.files.unavailable = 1;
      expect(await storing(there, ago)).toEqual({ againInSeconds });
      expect(await storing(`${away}/x.png`, ago)).toEqual({ againInSeconds });
      for (const status of [429, 502, 503, 504]) {
        upstream.onFile = () => ({ status, body: Buffer.from('not now') });
        expect(await storing(there, ago)).toEqual({ againInSeconds });
      }
    }
    expect(new Set(lines.splice(0))).toEqual(
      new Set(['a result waits for the object store', 'a result waits for its provider']),
    );
    upstream.onFile = () => ({ status: 404, body: Buffer.from('gone') });
    for (const againInSeconds of [1, 2, 4]) expect(await storing(there, 0)).toEqual({ againInSeconds });
    expect(await service.readMany(me, [id])).toMatchObject([{ state: 'QUEUED' }]);
    expect(await storing(there, 0)).toBeUndefined();
    expect((await engine.ended(service, id)).error).toMatchObject({ code: 'STORAGE_FAILED' });
    expect(lines).toEqual(Array(4).fill('a result could not be stored'));
  });

  it('waits while our own store is away, and counts no try', async ({ engine, upstream, setUp }) => {
    engine.files.unavailable = 2;
    const { service } = await setUp({ worker: { limits: { maxStoreTries: 1 } } });
    const { id } = await service.submit(me, image());
    expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
    expect(engine.files.unavailable).toBe(0);
    expect(upstream.starts).toHaveLength(1);
  });

  it('fails as STORAGE_FAILED when our own store stays away', async ({ engine, setUp }) => {
    engine.files.unavailable = 1_000;
    const { service } = await setUp({ worker: { limits: { maxStoreTries: 1, storeOutageSeconds: 0 } } });
    const { id } = await service.submit(me, image());
    expect((await engine.ended(service, id)).error).toMatchObject({ code: 'STORAGE_FAILED' });
    engine.files.unavailable = 0;
  });

  it('keeps the order of several files', async ({ engine, upstream, setUp }) => {
    upstream.onStatus = () => ({ state: 'finished', files: ['a.png', 'b.png', 'c.png'] });
    const names: string[] = [];
    upstream.onFile = (name) => {
      names.push(name);
      return { status: 200, body: PNG, headers: { 'content-type': 'image/png' } };
    };
    const { service } = await setUp();
    const { id } = await service.submit(me, image());
    const ended = await engine.ended(service, id);
    expect(names).toEqual(['a.png', 'b.png', 'c.png']);
    const stored = ended.result?.mediaIds.map((mediaId) => engine.files.stored.get(mediaId)?.name);
    expect(stored).toEqual(['result-1', 'result-2', 'result-3']);
  });
});

describe.concurrent('calls', () => {
  const bytes = { files: [{ content: PNG, contentType: 'image/png' }], texts: [] };

  it('store the bytes they answer with', async ({ engine, setUp }) => {
    const provider: Provider = { name: 'calls', calls: { IMAGE: { call: async () => bytes } } };
    const { service } = await setUp({ provider });
    const { id } = await service.submit(me, image());
    const ended = await engine.ended(service, id);
    expect(ended).toMatchObject({ state: 'SUCCEEDED' });
    expect(engine.files.stored.get(ended.result?.mediaIds[0] ?? '')).toMatchObject({ taskId: id });
    expect(await attemptStates(service, id)).toEqual(['SUCCEEDED']);
  });

  it('show the progress that they are told meanwhile', async ({ engine, setUp }) => {
    const shown = async () => {
      const sql = `select from media.tasks where progress = 30 and stage = 'rendering'`;
      return (await engine.pool.query(sql)).rows.length === 1;
    };
    const IMAGE: NonNullable<Provider['calls']>['IMAGE'] = {
      async call(_request, { report }) {
        await report?.({ progress: 29.6, stage: 'rendering' });
        await until(shown);
        await report?.({ progress: 200, stage: 'rendering', image: PNG });
        return bytes;
      },
    };
    const { service } = await setUp({ provider: { name: 'calls', calls: { IMAGE } } });
    const { id } = await service.submit(me, image());
    expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
    const [preview = ''] = [...engine.files.stored.keys()];
    expect((await service.events(id, 0, 100)).find(({ stage }) => stage.includes('preview'))).toMatchObject({
      stage: `rendering, preview ${preview}`,
      progress: 99,
    });
  });

  it('hold their bytes while our own store is away', async ({ engine, setUp }) => {
    engine.files.unavailable = 2;
    const provider: Provider = { name: 'calls', calls: { IMAGE: { call: async () => bytes } } };
    const { service } = await setUp({ provider, worker: { limits: { maxStoreTries: 1 } } });
    const { id } = await service.submit(me, image());
    expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
    expect(engine.files.unavailable).toBe(0);
  });

  it('fail when their bytes are something else, or can not be stored', async ({ engine, setUp }) => {
    const call = async (request: object) =>
      'prompt' in request && request.prompt === 'words'
        ? { files: [{ content: Buffer.from('<html>'), contentType: 'text/html' }], texts: [] }
        : bytes;
    let stores = 0;
    const store = engine.files.store.bind(engine.files);
    engine.files.store = async (file) => {
      stores += 1;
      if (stores > 1) throw new Error('the disk is full');
      return store(file);
    };
    const { service } = await setUp({
      provider: { name: 'calls', calls: { IMAGE: { call } } },
      worker: { limits: { maxStoreTries: 2, storePauseSeconds: 0.01 } },
    });
    const words = await service.submit(me, image('words'));
    expect((await engine.ended(service, words.id)).error).toEqual({
      code: 'STORAGE_FAILED',
      message: 'the result could not be stored: the upstream answered with text/html instead of an image',
      retryable: false,
    });
    expect([stores, await attemptStates(service, words.id)]).toEqual([1, ['FAILED']]);
    const { id } = await service.submit(me, image());
    expect((await engine.ended(service, id)).error).toMatchObject({
      message: 'the result could not be stored',
    });
    expect([stores, await attemptStates(service, id)]).toEqual([3, ['FAILED']]);
  });

  it('are finished by a worker that stops, and takes nothing more', async ({ setUp }) => {
    const going = Promise.withResolvers<void>();
    const calls: string[] = [];
    const IMAGE: NonNullable<Provider['calls']>['IMAGE'] = {
      async call(_request, { reference }) {
        calls.push(reference);
        await going.promise;
        return bytes;
      },
    };
    const one = { provider: { name: 'calls', calls: { IMAGE } }, binding: { concurrency: 1 } };
    const { service, worker } = await setUp(one);
    const [first, second] = [await service.submit(me, image()), await service.submit(me, image('later'))];
    await until(async () => calls.length === 1);
    const stopped = worker.stop(60);
    going.resolve();
    await stopped;
    expect(await service.readMany(me, [first.id, second.id])).toMatchObject([
      { state: 'SUCCEEDED' },
      { state: 'QUEUED', stage: 'queued' },
    ]);
    expect(calls).toEqual([`${hashTaskId(first.id)}/1/1`]);
  });

  it('that are broken off by a stop are left to the next worker, which is told of', async ({
    engine,
    setUp,
  }) => {
    const lines: unknown[] = [];
    const warn = (...line: unknown[]) => void lines.push(line[1]);
    const called = Promise.withResolvers<void>();
    const call = (_request: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise<never>((_resolve, reject) => {
        called.resolve();
        signal.addEventListener('abort', () =>
          reject(new UpstreamError('LOST', 'aborted', { retryable: true })),
        );
      });
    const { service, worker } = await setUp({
      provider: { name: 'calls', calls: { IMAGE: { call } } },
      worker: { logger: { ...engine.logger, warn } },
    });
    const { id } = await service.submit(me, image());
    await called.promise;
    await worker.stop(0);
    const { rows } = await engine.pool.query(
      `select state, claim is not null as "isClaimed" from media.attempts`,
    );
    expect(rows).toEqual([{ state: 'STARTING', isClaimed: true }]);
    expect(await service.readMany(me, [id])).toMatchObject([{ state: 'RUNNING' }]);
    expect(lines).not.toContain('a call ended without an answer');
  });

  it('are broken off by a cancel, at a cost that is not known', async ({ engine, setUp }) => {
    const provider: Provider = {
      name: 'calls',
      calls: {
        IMAGE: {
          call: (_request, { signal }) =>
            new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () =>
                reject(new UpstreamError('LOST', 'aborted', { retryable: true })),
              );
            }),
        },
      },
    };
    const { service } = await setUp({ provider, binding: { prices: PRICED } });
    const { id } = await service.submit(me, image());
    await until(async () => {
      const { rows } = await engine.pool.query('select 1 from media.attempts where claim is not null');
      return rows.length === 1;
    });
    await service.cancel(me, id);
    expect(await engine.ended(service, id)).toMatchObject({ state: 'CANCELLED' });
    const attempts = (await service.attempts([id])).get(id);
    expect(attempts).toMatchObject([{ state: 'CANCELLED', cost: { microUnits: null } }]);
  });

  it('that answer after a cancel are charged and discarded; whose address has expired have no other', async ({
    engine,
    upstream,
    setUp,
  }) => {
    const going = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const call: NonNullable<NonNullable<Provider['calls']>['IMAGE']>['call'] = async (request) => {
      if ('prompt' in request && request.prompt === 'expired')
        return { files: [{ url: `${upstream.url}/files/x.png` }], texts: [] };
      asked.resolve();
      await going.promise;
      return { ...bytes, units: { pictures: 1 } };
    };
    upstream.onFile = () => ({ status: 404, body: Buffer.from('gone') });
    const { service } = await setUp({
      provider: { name: 'calls', calls: { IMAGE: { call } } },
      worker: { limits: { maxStoreTries: 3 } },
    });
    const { id } = await service.submit(me, image());
    const expired = await service.submit(me, image('expired'));
    await asked.promise;
    await service.cancel(me, id);
    going.resolve();
    expect(await engine.ended(service, id)).toMatchObject({ state: 'CANCELLED', result: null });
    const { rows } = await engine.pool.query(
      `select state, settled_at is not null as "isSettled", units->>'pictures' as pictures from media.attempts where task_id = $1`,
      [id],
    );
    expect(rows).toEqual([{ state: 'CANCELLED', isSettled: true, pictures: '1' }]);
    expect(engine.files.stored.size).toBe(0);
    expect((await engine.ended(service, expired.id)).error).toMatchObject({
      code: 'STORAGE_FAILED',
      message: expect.stringContaining('this upstream gives no other'),
    });
  });

  it('that answer after they were taken over leave the step to the others', async ({ engine, setUp }) => {
    const call = async (_request: unknown, { reference }: { reference: string }) => {
      await engine.pool.query(`update media.attempts set state = 'UNKNOWN' where reference = $1`, [
        reference,
      ]);
      await engine.pool.query(`update media.task_steps set state = 'QUEUED'`);
      return bytes;
    };
    const { service } = await setUp({ provider: { name: 'calls', calls: { IMAGE: { call } } } });
    const { id } = await service.submit(me, image());
    await until(async () => {
      const { rows } = await engine.pool.query(`select from queue.jobs where state = 'completed'`);
      return rows.length > 0;
    });
    const { rows } = await engine.pool.query('select state from media.task_steps where task_id = $1', [id]);
    expect(rows).toEqual([{ state: 'QUEUED' }]);
    expect(engine.files.stored.size).toBe(0);
  });

  it('go to another binding when their own does not serve them any more', async ({ engine, upstream }) => {
    let isServed = true;
    const call = async () => ({ files: [{ content: PNG, contentType: 'image/png' }], texts: [] });
    const leaving: Provider = {
      name: 'leaving',
      get calls() {
        return isServed ? { IMAGE: { call } } : {};
      },
    };
    const staying: Provider = { name: 'staying', calls: { IMAGE: { call } } };
    const registry = toRegistry(
      testBinding('test#0', leaving, upstream.url),
      testBinding('test#1', staying, upstream.url),
    );
    const service = engine.service(registry);
    const { id } = await service.submit(me, image());
    isServed = false;
    await engine.worker(registry);
    expect(await engine.ended(service, id)).toMatchObject({ state: 'SUCCEEDED' });
    expect((await service.attempts([id])).get(id)).toMatchObject([
      { provider: 'staying', state: 'SUCCEEDED', error: null },
    ]);
  });

  it('that ended without an answer are named START_UNKNOWN', async ({ engine, setUp }) => {
    const provider: Provider = {
      name: 'calls',
      calls: { IMAGE: { call: () => Promise.reject(new Error('socket hang up')) } },
    };
    const { service } = await setUp({ provider });
    const { id } = await service.submit(me, image());
    expect(await engine.ended(service, id)).toMatchObject({ error: { code: 'START_UNKNOWN' } });
  });
});

describe.concurrent('inputs', () => {
  const work = (url: string) => ({ kind: 'DESCRIPTION', generator: 'test', image: { url } }) as const;

  it('that are foreign URLs are fetched under the outbound rule, and refused by name', async ({
    engine,
    upstream,
    setUp,
  }) => {
    const { service } = await setUp();
    const { id } = await service.submit(me, image('', { work: work(`${upstream.url}/files/x.png`) }));
    expect(await engine.ended(service, id)).toMatchObject({
      state: 'FAILED',
      error: {
        code: 'INVALID_INPUT',
        field: 'image',
        message: expect.stringContaining('could not be fetched'),
      },
    });
    expect(upstream.starts).toEqual([]);
  });

  it('that come byte by byte for ever hold the slot of a start for a while only', async ({
    engine,
    upstream,
    setUp,
  }) => {
    const dripping = await openDripping();
    const { host } = dripping;
    const { logger } = engine;
    const http = createHttpClient({ outbound: createOutboundRule({ allow: [host] }), logger });
    const { service } = await setUp({ worker: { http, limits: { inputsTimeoutMs: 1_000 } } });
    const { id } = await service.submit(me, image('', { work: work(`http://${host}/x.png`) }));
    expect(await engine.ended(service, id)).toMatchObject({
      state: 'FAILED',
      error: {
        code: 'INVALID_INPUT',
        field: 'image',
        message: expect.stringContaining('within 1 s'),
      },
    });
    expect(upstream.starts).toEqual([]);
    await http.close();
    dripping.close();
  });

  it('that are files of ours are opened, and texts end the task without storing', async ({
    engine,
    upstream,
    setUp,
  }) => {
    upstream.onStatus = () => ({ state: 'finished', texts: ['a fox in snow'] });
    const { service } = await setUp();
    const file = { owner: 'usr_me', name: 'x.png', declaredType: null, temporary: true, maxBytes: 1_000 };
    const { id: fileId } = await engine.files.store({
      ...file,
      body: (async function* () {
        yield PNG;
      })(),
    });
    const description = { kind: 'DESCRIPTION', generator: 'test', image: { fileId } } as const;
    const { id } = await service.submit(me, image('', { work: description, fileIds: [fileId] }));
    const ended = await engine.ended(service, id);
    expect(ended).toMatchObject({ state: 'SUCCEEDED', result: { texts: ['a fox in snow'], mediaIds: [] } });
  });
});

describe.concurrent('an input', () => {
  it('that its host does not give, or of the wrong kind, is refused by name', async ({
    engine,
    upstream,
    setUp,
  }) => {
    const allowed = createOutboundRule({ allow: [new URL(upstream.url).host] });
    const http = createHttpClient({ outbound: allowed, logger: engine.logger });
    const fetchInput = createInputFetcher({ http, files: engine.files });
    const { signal } = new AbortController();
    const input = { url: `${upstream.url}/files/x.png`, field: 'images[0]', kind: 'image', signal } as const;
    await fetchInput(input);
    const refused = { code: 'INVALID_INPUT', field: 'images[0]' };
    await expect(fetchInput({ ...input, kind: 'audio' })).rejects.toMatchObject(refused);
    upstream.onFile = () => ({ status: 404, body: Buffer.from('gone') });
    await expect(fetchInput(input)).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining('answered HTTP 404'),
    });
    // What is broken off by us is no fault of theirs.
    await expect(
      fetchInput({ ...input, signal: AbortSignal.abort(new Error('we stop')) }),
    ).rejects.not.toMatchObject(refused);
    const { service } = await setUp({ worker: { http } });
    const { id } = await service.submit(
      me,
      image('', { work: { kind: 'DESCRIPTION', generator: 'test', image: { url: input.url } } }),
    );
    expect((await engine.ended(service, id)).error).toMatchObject({
      message: expect.stringContaining('HTTP 404'),
    });
    await http.close();
  });
});

describe.concurrent('recipes', () => {
  const recipe = {
    kind: 'RECIPE',
    taskType: 'tea',
    prompt: 'a cup',
    aspectRatio: '9:16',
    templatePrompt: null,
  } as const;
  const options = { recipeGenerator: 'test' };

  it('describe the image first, then make one image for each preset, in order', async ({
    engine,
    upstream,
  }) => {
    upstream.onStatus = ({ prompt, polls }) => {
      if (prompt === 'describe') return { state: 'finished', texts: ['green tea --ar 3:4'] };
      return polls < 3
        ? { state: 'running', progress: polls * 30 }
        : { state: 'finished', files: [`${prompt}.png`] };
    };
    const registry = toRegistry(testBinding('test#0', testProvider(engine.http), upstream.url));
    const service = engine.service(registry, { recipeGenerator: 'test' });
    await engine.worker(registry, options);
    const file = { owner: 'usr_me', name: 'x.png', declaredType: null, temporary: true, maxBytes: 1_000 };
    const { id: fileId } = await engine.files.store({
      ...file,
      body: (async function* () {
        yield PNG;
      })(),
    });
    const work = { ...recipe, image: { fileId }, presetPrompts: ['one', 'two', 'three'] };
    await engine.queue.define('recipe.ended');
    const id = newId();
    await service.start({
      ...image('', { work, fileIds: [fileId] }),
      id,
      owner: 'usr_me',
      onEnd: 'recipe.ended',
    });
    const ended = await engine.ended(service, id);
    expect(ended).toMatchObject({ state: 'SUCCEEDED', taskType: 'tea', kind: 'RECIPE', progress: 100 });
    expect(ended.result?.mediaIds).toHaveLength(3);
    expect(upstream.starts[0]).toBe(`${hashTaskId(id)}/1/1`);
    const prompts = [...upstream.jobs.values()]
      .sort((one, other) => (one.reference < other.reference ? -1 : 1))
      .map((job) => job.prompt);
    expect(prompts).toEqual([
      'describe',
      ...['one', 'two', 'three'].map((each) => `a cup, ${each}, green tea`),
    ]);
    const log = await service.events(id, 0, 1_000);
    expect(log.every((event, index) => event.progress >= (log[index - 1]?.progress ?? 0))).toBe(true);
    // A tenth of the whole is done when the description is.
    const begun = log.find(({ stage }) => stage === 'image 1 of 3: queued');
    expect(begun?.progress).toBe(10);
    expect(log.some((event) => event.progress > 10 && event.progress < 100)).toBe(true);
    const { rows } = await engine.pool.query(`select data from queue.jobs where queue = 'recipe.ended'`);
    expect(rows).toEqual([{ data: { taskId: id, state: 'SUCCEEDED' } }]);
  });

  it('fail when nothing here makes what comes next', async ({ engine, upstream }) => {
    upstream.onStatus = () => ({ state: 'finished', texts: ['green tea'] });
    const registry = toRegistry(testBinding('test#0', testProvider(engine.http), upstream.url));
    const service = engine.service(registry, options);
    const { jobs = {} } = testProvider(engine.http);
    const provider: Provider = {
      name: 'test',
      jobs: { DESCRIPTION: jobs.DESCRIPTION as NonNullable<typeof jobs.DESCRIPTION> },
    };
    await engine.worker(toRegistry(testBinding('test#0', provider, upstream.url)), options);
    const { id: fileId } = await engine.files.store({
      owner: 'usr_me',
      name: 'x.png',
      declaredType: null,
      temporary: true,
      maxBytes: 1_000,
      body: Readable.from([PNG]),
    });
    const { id } = await service.submit(
      me,
      image('', { work: { ...recipe, image: { fileId }, presetPrompts: ['one'] }, fileIds: [fileId] }),
    );
    expect(await engine.ended(service, id)).toMatchObject({
      state: 'FAILED',
      error: { code: 'UNAVAILABLE', message: expect.stringContaining('test'), retryable: false },
    });
  });

  it('fail when one image fails, and cancel the others', async ({ engine, upstream }) => {
    upstream.onStatus = ({ prompt }) =>
      prompt.includes('bad') ? { state: 'failed', retryable: false } : { state: 'running', progress: 10 };
    const registry = toRegistry(testBinding('test#0', testProvider(engine.http), upstream.url));
    const service = engine.service(registry, { recipeGenerator: 'test' });
    await engine.worker(registry, options);
    const work = { ...recipe, presetPrompts: ['good', 'bad', 'fine'] };
    const { id } = await service.submit(me, image('', { work }));
    expect(await engine.ended(service, id)).toMatchObject({
      state: 'FAILED',
      error: { message: 'it broke' },
    });
    await until(async () => {
      const states = (await attemptStates(service, id)) ?? [];
      return !states.includes('RUNNING') && !states.includes('STARTING');
    });
    const others = (await service.attempts([id])).get(id)?.filter((attempt) => attempt.step !== 2) ?? [];
    expect(others.every((attempt) => attempt.state === 'CANCELLED')).toBe(true);
    // One whose answer is late is asked for again.
    expect(new Set(upstream.cancels).size).toBe(upstream.starts.length - 1);
  });
});
