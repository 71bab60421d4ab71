import { describe, expect } from 'vitest';

import type { Binding } from '../../generators/bindings/binding.ts';
import { engineTest } from '../testing/engine-test.ts';
import { image, me, toRegistry, type TestEngine, until } from '../testing/engine.ts';
import { PRICED, testBinding, testProvider } from '../testing/provider.ts';
import { startUpstream, type Upstream } from '../testing/upstream.ts';

/** Running work stays with the upstream and account that have it, whatever becomes of the list of bindings. */

/** Waits long enough for a mistake to be made, and not for work to be given up. */
const limits = { sweepPauseMs: 150, pollTickMs: 100, unconfiguredSeconds: 600 };

const allAt = (starts: readonly [number, number]) => ({
  states: Array(3).fill('SUCCEEDED'),
  starts,
  cancels: 0,
});

/** An engine between two upstreams, whose work runs until it is told to finish. */
function createPlaces(engine: TestEngine, one: Upstream, other: Upstream) {
  for (const upstream of [one, other]) upstream.onStatus = () => ({ state: 'running', progress: 10 });
  const at = (id: string, { url }: Upstream, change: Partial<Binding> = {}) =>
    testBinding(id, testProvider(engine.http), url, { concurrency: 4, ...change });
  const account = (id: string, upstream: Upstream, key: string, name?: string): Binding => {
    const binding = at(id, upstream);
    return { ...binding, account: name, connection: { ...binding.connection, credentials: { key } } };
  };
  const count = async (table: string, condition: string): Promise<number> =>
    Number((await engine.pool.query(`select count(*) from media.${table} where ${condition}`)).rows[0].count);

  /** Three tasks that run at the upstreams of these bindings, whose process has stopped. */
  async function running(...bindings: readonly Binding[]) {
    const service = engine.service(toRegistry(...bindings));
    const worker = await engine.worker(toRegistry(...bindings), { limits });
    const tasks = await Promise.all(['a', 'b', 'c'].map((prompt) => service.submit(me, image(prompt))));
    await until(async () => (await count('attempts', `state = 'RUNNING'`)) === 3);
    await worker.stop(1);
    return { service, ids: tasks.map(({ id }) => id) };
  }

  const configured = async (...bindings: readonly Binding[]) =>
    engine.worker(toRegistry(...bindings), { limits, queue: await engine.anotherQueue() });

  /** Lets the work finish: the states of its ends, and how often each upstream was sent a start or a cancel. */
  async function awaitEnds({ service, ids }: Awaited<ReturnType<typeof running>>) {
    for (const upstream of [one, other]) upstream.onStatus = () => ({ state: 'finished' });
    const states: string[] = [];
    for (const id of ids) states.push((await engine.ended(service, id)).state);
    return {
      states,
      starts: [one.starts.length, other.starts.length],
      cancels: one.cancels.length + other.cancels.length,
    };
  }

  /** Polls of a process that has this work at the wrong place would have come by then. */
  async function expectUntouched(): Promise<void> {
    await until(async () => (await count('attempts', 'unknown_since is not null')) === 3);
    expect(await count('attempts', `state = 'RUNNING'`)).toBe(3);
    expect(await count('tasks', `state = 'RUNNING'`)).toBe(3);
  }
  return { engine, one, other, at, account, count, running, configured, awaitEnds, expectUntouched };
}

const it = engineTest.extend<{ readonly places: ReturnType<typeof createPlaces> }>({
  places: async ({ engine, upstream }, use) => {
    const other = await startUpstream();
    await use(createPlaces(engine, upstream, other));
    await other.close();
  },
});

describe.concurrent('a list of bindings', () => {
  it('in another order finds the work where it is', async ({ places }) => {
    const { one, other, at, running, configured, awaitEnds } = places;
    const work = await running(at('test#0', one));
    await configured(at('test#0', other), at('test#1', one));
    expect(await awaitEnds(work)).toEqual(allAt([3, 0]));
  });

  it('with another one before it finds the work where it is', async ({ places }) => {
    const { one, other, at, running, configured, awaitEnds } = places;
    const work = await running(at('test#0', other), at('test#1', one));
    await configured(at('test#0', one), at('test#1', other));
    expect(await awaitEnds(work)).toEqual(allAt([0, 3]));
  });

  it('without its binding leaves the work alone, until the binding is back', async ({ places }) => {
    const { one, other, at, count, running, configured, awaitEnds, expectUntouched } = places;
    const work = await running(at('test#0', one));
    const worker = await configured(at('test#0', other));
    await expectUntouched();
    await worker.stop(1);
    await configured(at('test#0', other), at('test#1', one));
    expect(await awaitEnds(work)).toEqual(allAt([3, 0]));
    expect(await count('attempts', 'unknown_since is not null')).toBe(0);
  });

  it('without its binding gives the work the whole time, however many status calls an outage has cost', async ({
    places,
  }) => {
    const { engine, one, other, at, running, configured, awaitEnds, expectUntouched } = places;
    const work = await running(at('test#0', one));
    await engine.pool.query('update media.attempts set poll_failures = 500');
    await configured(at('test#0', other));
    await expectUntouched();
    await configured(at('test#0', one));
    expect(await awaitEnds(work)).toEqual(allAt([3, 0]));
  });

  it('with the real provider where the sandbox was buys nothing', async ({ places }) => {
    const { one, other, at, running, configured, awaitEnds, expectUntouched } = places;
    const work = await running(at('test#0', one, { sandbox: true }));
    const worker = await configured(at('test#0', other, { sandbox: false }));
    await expectUntouched();
    await worker.stop(1);
    await configured(at('test#0', one, { sandbox: true }));
    expect(await awaitEnds(work)).toEqual(allAt([3, 0]));
  });

  it('with another account at the same address leaves the work alone', async ({ places }) => {
    const { one, account, running, configured, awaitEnds, expectUntouched } = places;
    const work = await running(account('test#0', one, 'key of one'));
    const worker = await configured(account('test#0', one, 'key of another'));
    await expectUntouched();
    await worker.stop(1);
    await configured(account('test#0', one, 'key of one'));
    expect(await awaitEnds(work)).toEqual(allAt([3, 0]));
  });

  it('with a new key of a binding that has a name goes on', async ({ places }) => {
    const { one, account, running, configured, awaitEnds } = places;
    const work = await running(account('test#0', one, 'old key', 'main'));
    await configured(account('test#0', one, 'new key', 'main'));
    expect(await awaitEnds(work)).toEqual(allAt([3, 0]));
  });
});

it.concurrent('two processes with different lists leave each other’s work alone', async ({ places }) => {
  const { one, other, at, running, configured, awaitEnds } = places;
  const work = await running(at('test#0', one));
  await configured(at('test#0', other));
  await configured(at('test#0', one));
  expect(await awaitEnds(work)).toEqual(allAt([3, 0]));
});

describe.concurrent('a process that does not know a binding', () => {
  it('hands finished work back, and another one stores it', async ({ places }) => {
    const { engine, one, other, at, count, configured } = places;
    one.onStatus = () => ({ state: 'finished' });
    const service = engine.service(toRegistry(at('test#0', one)));
    engine.files.unavailable = 1_000;
    const worker = await engine.worker(toRegistry(at('test#0', one)), { limits });
    const { id } = await service.submit(me, image());
    await until(async () => (await count('task_steps', `state = 'STORING'`)) === 1);
    await worker.stop(1);
    engine.files.unavailable = 0;
    const stranger = await configured(at('other#0', other));
    await until(async () => (await count('attempts', 'unknown_since is not null')) === 1);
    await stranger.stop(1);
    await configured(at('test#0', one));
    expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
  });

  it('gives finished work up that nobody has known for long, at a cost that is unknown', async ({
    places,
  }) => {
    const { engine, one, other, at, count, configured } = places;
    one.onStatus = () => ({ state: 'finished' });
    const priced = toRegistry(at('test#0', one, { prices: PRICED }));
    const service = engine.service(priced);
    engine.files.unavailable = 1_000;
    const worker = await engine.worker(priced, { limits });
    const { id } = await service.submit(me, image());
    await until(async () => (await count('task_steps', `state = 'STORING'`)) === 1);
    await worker.stop(1);
    await engine.pool.query(`update media.attempts set unknown_since = now() - interval '601 seconds'`);
    await configured(at('other#0', other));
    expect((await engine.ended(service, id)).error).toMatchObject({
      code: 'STORAGE_FAILED',
      message: expect.stringContaining('no longer configured'),
    });
    const { rows } = await engine.pool.query(
      'select state, cost, units, settled_at is not null as settled from media.attempts',
    );
    expect(rows).toEqual([
      { state: 'SUCCEEDED', cost: null, units: { runs: 1, pictures: 1 }, settled: true },
    ]);
    const { rows: used } = await engine.pool.query(
      'select sum(unpriced)::int as unpriced, sum(cost)::int as cost from media.usage',
    );
    expect(used).toEqual([{ unpriced: 1, cost: 0 }]);
  });

  it('leaves a start alone whose claim is stale, and another one finds it at the upstream', async ({
    places,
  }) => {
    const { engine, one, other, at, count, configured } = places;
    const bindings = toRegistry(at('test#0', one));
    const service = engine.service(bindings);
    const { id } = await service.submit(me, image());
    await engine.pool.query(`update queue.jobs set state = 'completed', ended_at = now()`);
    await engine.pool.query(`with opened as (update media.task_steps set state = 'RUNNING')
      insert into media.attempts (task_id, step, number, binding, provider, reference, claim, claimed_at)
      select id, 1, 1, 'test#0', 'test', id || '/1/1', gen_random_uuid(), now() - interval '1 minute' from media.tasks`);
    const stranger = await configured(at('other#0', other));
    await until(async () => (await count('attempts', 'unknown_since is not null')) === 1);
    expect(await count('attempts', `state = 'STARTING'`)).toBe(1);
    await stranger.stop(1);
    one.onStatus = () => ({ state: 'finished' });
    await configured(at('test#0', one));
    expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
  });

  it('gives a start up that nobody has known for long, without another one', async ({ places }) => {
    const { engine, one, other, at, count, configured } = places;
    const service = engine.service(toRegistry(at('test#0', one)));
    const { id } = await service.submit(me, image());
    await engine.pool.query(`update queue.jobs set state = 'completed', ended_at = now()`);
    await engine.pool.query(`with opened as (update media.task_steps set state = 'RUNNING')
      insert into media.attempts (task_id, step, number, binding, provider, reference, claim, claimed_at, unknown_since)
      select id, 1, 1, 'test#0', 'test', id || '/1/1', gen_random_uuid(), now() - interval '1 minute', now() - interval '601 seconds'
      from media.tasks`);
    await configured(at('other#0', other));
    expect((await engine.ended(service, id)).error).toMatchObject({
      code: 'START_UNKNOWN',
      retryable: false,
    });
    expect(await count('attempts', `state = 'UNKNOWN'`)).toBe(1);
    expect(await count('attempts', 'true')).toBe(1);
  });

  it('leaves a cancel alone, and another one tells the upstream', async ({ places }) => {
    const { engine, one, other, at, count, running, configured } = places;
    const work = await running(at('test#0', one));
    for (const id of work.ids) await work.service.cancel(me, id);
    const stranger = await configured(at('test#0', other));
    await until(async () => (await count('attempts', 'unknown_since is not null')) === 3);
    expect(await count('attempts', `state = 'RUNNING'`)).toBe(3);
    expect(one.cancels).toEqual([]);
    await stranger.stop(1);
    await configured(at('test#1', one));
    for (const id of work.ids) expect((await engine.ended(work.service, id)).state).toBe('CANCELLED');
    expect([one.cancels.length, other.cancels.length]).toEqual([3, 0]);
  });

  it('gives up no step that another one serves', async ({ places }) => {
    const { engine, one, other, at, count } = places;
    one.onStatus = () => ({ state: 'running', progress: 1 });
    const known = at('test#0', one, { concurrency: 1 });
    const service = engine.service(toRegistry(known));
    await engine.worker(toRegistry(known), { limits: { ...limits, unconfiguredSeconds: 2 } });
    const tasks = await Promise.all(['a', 'b', 'c'].map((prompt) => service.submit(me, image(prompt))));
    await until(async () => one.starts.length === 1);
    await engine.pool.query(`update media.task_steps set waiting_since = waiting_since - interval '1 hour'`);
    await engine.worker(toRegistry(at('other#0', other)), {
      limits: { ...limits, unconfiguredSeconds: 2 },
      queue: await engine.anotherQueue(),
    });
    // Noted by one and removed by the other, again and again.
    const noted = () => count('task_steps', 'unknown_since is not null');
    for (let round = 0; round < 3; round += 1) {
      await until(async () => (await noted()) > 0);
      await until(async () => (await noted()) === 0);
    }
    one.onStatus = () => ({ state: 'finished' });
    for (const { id } of tasks) expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
  });
});

describe.concurrent('an attempt that was opened and not sent', () => {
  /** As if the process had been killed between opening the attempt and claiming it. */
  async function opened(
    engine: TestEngine,
    binding: Binding,
    upstream: string | null = 'test:of-another',
    name: string | null = null,
  ) {
    const service = engine.service(toRegistry(binding));
    const { id } = await service.submit(me, image());
    await engine.pool.query(
      `with opened as (update media.task_steps set state = 'RUNNING')
      insert into media.attempts (task_id, step, number, binding, upstream, binding_name, provider, reference)
      select id, 1, 1, 'test#0', $1, $2, 'test', id || '/1/1' from media.tasks`,
      [upstream, name],
    );
    return { service, id };
  }

  it.for([
    ['test:of-another', null, 1],
    [null, 'test:before', 1],
    [null, 'test:0', 0],
    [null, null, 0],
  ] as const)(
    'at %s, of %s, is not sent to whatever else has its place now: begun anew %i times',
    async ([upstream, name, anew], { places }) => {
      const { engine, one, at, count, configured } = places;
      one.onStatus = () => ({ state: 'finished' });
      const { service, id } = await opened(engine, at('test#0', one), upstream, name);
      await configured(at('test#0', one));
      expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
      expect(await count('attempts', `state = 'CANCELLED' and claim is null`)).toBe(anew);
      expect(one.starts).toHaveLength(1);
    },
  );

  it('is not sent while its binding is paused', async ({ places }) => {
    const { engine, one, at, count, configured } = places;
    one.onStatus = () => ({ state: 'finished' });
    let isPaused = true;
    const paused = at('test#0', one, { isPaused: () => isPaused });
    const { service, id } = await opened(engine, paused);
    await configured(paused);
    await until(async () => (await count('tasks', `stage like 'paused%'`)) === 1);
    expect(one.starts).toEqual([]);
    isPaused = false;
    // The job waits a moment after its task says so.
    const hasten = `update queue.jobs set due_at = now() where state = 'waiting' and due_at > now()`;
    await until(async () => (await engine.pool.query(hasten)).rowCount === 1);
    expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
  });

  it('of any binding of a generator is looked at again when one of them is resumed', async ({ places }) => {
    const { engine, one, other, at } = places;
    const hastened: string[] = [];
    const lines: unknown[] = [];
    const warned = Promise.withResolvers<void>();
    const work = async (name: string) => ({
      wake() {},
      async hasten() {
        hastened.push(name);
        if (name.endsWith('test.1')) throw new Error('no database');
      },
      stop: async () => {},
    });
    let resume = (_names: readonly string[]): void => {};
    const onResume = (listener: typeof resume) => {
      resume = listener;
      return () => void (resume = () => void lines.push('not heard'));
    };
    const warn = (...line: unknown[]) => {
      lines.push(line);
      warned.resolve();
    };
    const worker = await engine.worker(
      toRegistry(at('test#0', one), at('test#1', other), at('other#0', other)),
      {
        queue: { ...engine.queue, work },
        bindingPauses: { onResume },
        logger: { ...engine.logger, warn },
      },
    );
    resume(['test:0']);
    expect(hastened).toEqual(['media.start.test.0', 'media.start.test.1']);
    await warned.promise;
    expect(lines).toMatchObject([[{ binding: 'test:1' }, 'what waits here is not hastened']]);
    await worker.stop(1);
    resume(['test:0']);
    expect([hastened.length, lines.at(-1)]).toEqual([2, 'not heard']);
  });
});
