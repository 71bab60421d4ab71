import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { noMetrics } from '../../../../platform/metrics/metrics.ts';
import type { Binding } from '../../generators/bindings/binding.ts';
import { createBreakers } from '../../generators/breakers/breakers.ts';
import { createCatalog } from '../../generators/catalog/catalog.ts';
import { withGeneratorsFile } from '../../generators/configuration/generators-file.ts';
import { createCredentialRefusals } from '../../generators/credentials/refusals.ts';
import { createPauses } from '../../generators/pauses/pauses.ts';
import { createProviderHealth } from '../../provider-health/provider-health.ts';
import { startQueue } from '../rules/queues.ts';
import { readRoom } from '../storage/slot-store.ts';
import { image, me, toRegistry, startEngine, type TestEngine, until } from '../testing/engine.ts';
import { testProvider } from '../testing/provider.ts';
import { startUpstream, type Upstream } from '../testing/upstream.ts';

/** Pauses, breakers, slots and paces stay with the provider that they are of, whatever becomes of the list of bindings. */

let engine: TestEngine;
let one: Upstream;
let other: Upstream;
const closes: (() => void)[] = [];
beforeEach(async () => {
  engine = await startEngine();
  [one, other] = await Promise.all([startUpstream(), startUpstream()]);
});
afterEach(async () => {
  for (const close of closes.splice(0)) close();
  await engine.stop();
  await Promise.all([one.close(), other.close()]);
});

type Entry = readonly [Upstream, Readonly<Record<string, unknown>>?];

/** A process whose GENERATORS_FILE has these bindings. */
async function processWith(...entries: readonly Entry[]) {
  const written = entries.map(([{ url }, change]) => ({
    provider: 'test',
    baseUrl: url,
    model: 'm',
    kinds: ['IMAGE'],
    ...change,
  }));
  const file = { path: 'generators.json', text: JSON.stringify({ test: written }), variables: {} };
  const options = { file, providers: { test: testProvider(engine.http) }, catalog: createCatalog() };
  const breakers = createBreakers({ ...engine, metrics: noMetrics, firstPauseMs: 600_000 });
  const pauses = createPauses(engine);
  const refusals = createCredentialRefusals(engine);
  const registry = toRegistry(
    ...pauses.watch(breakers.watch(withGeneratorsFile({ bindings: [] }, options).bindings)),
  );
  closes.push(
    () => breakers.close(),
    () => pauses.close(),
    () => refusals.close(),
  );
  await pauses.load();
  const find = ({ url }: Upstream) => registry.all().find(({ connection }) => connection.baseUrl === url);
  const at = (upstream: Upstream): Binding => {
    const binding = find(upstream);
    if (binding === undefined) throw new Error('the list has no binding at this upstream');
    return binding;
  };
  const health = createProviderHealth({ ...engine, registry, refusals, breakers, bindingPauses: pauses });
  const worker = async () =>
    engine.worker(registry, {
      bindingPauses: pauses,
      limits: { sweepPauseMs: 50, unconfiguredSeconds: 600 },
      queue: await engine.anotherQueue(),
    });
  return { registry, breakers, pauses, health, find, at, worker, service: engine.service(registry) };
}

/** Lists before and after a change, and what the one after has of the two upstreams. */
const changes: readonly (readonly [string, () => { readonly before: Entry[]; readonly after: Entry[] }])[] = [
  ['in another order', () => ({ before: [[one], [other]], after: [[other], [one]] })],
  ['with one added before', () => ({ before: [[one]], after: [[other], [one]] })],
  ['with the one before removed', () => ({ before: [[other], [one]], after: [[one]] })],
  ['with another one in its place', () => ({ before: [[one]], after: [[other]] })],
];
const withLimits = (entries: readonly Entry[], limits: Readonly<Record<string, unknown>>): Entry[] =>
  entries.map(([upstream]) => [upstream, limits]);
const readStage = async (service: ReturnType<TestEngine['service']>, id: string) =>
  (await service.readMany(me, [id]))[0]?.stage;

type Process = Awaited<ReturnType<typeof processWith>>;
const NOT_THERE = 'not in the list';
/** What is read of the bindings at both upstreams, where the list of a process has them. */
async function ofBoth<Fact>(process: Process, read: (binding: Binding) => Fact | Promise<Fact>) {
  const bindings = [one, other].map(process.find);
  return Promise.all(bindings.map(async (binding) => (binding ? read(binding) : NOT_THERE)));
}
/** The same, as it is expected. */
const bothHave = ({ find }: Process, ...facts: readonly [unknown, unknown]) =>
  [one, other].map((upstream, index) => (find(upstream) ? facts[index] : NOT_THERE));
const PAUSED = 'paused by an administrator';

describe.each(changes)('a list %s', (_, lists) => {
  it('has its pause at the same provider', async () => {
    const { before, after } = lists();
    const old = await processWith(...before);
    await old.health.pause(me, old.at(one).name, 'its images are bad');
    const fresh = await processWith(...after);
    const reasons = await ofBoth(fresh, ({ name }) => fresh.pauses.of(name)?.reason ?? null);
    expect(reasons).toEqual(bothHave(fresh, 'its images are bad', null));
    await fresh.worker();
    const { id } = await fresh.service.submit(me, image());
    const hasOther = fresh.find(other) !== undefined;
    const outcome = hasOther
      ? (await engine.ended(fresh.service, id)).state
      : await until(async () => (await readStage(fresh.service, id)) === PAUSED && PAUSED);
    expect(outcome).toBe(hasOther ? 'SUCCEEDED' : PAUSED);
    expect([one.starts.length, other.starts.length]).toEqual([0, hasOther ? 1 : 0]);
  });

  it('has its tripped breaker at the same provider, in a process with the other list too', async () => {
    const { before, after } = lists();
    const [old, fresh] = [await processWith(...before), await processWith(...after)];
    await one.close();
    const { provider, connection, name } = old.at(one);
    const call = { connection, reference: 'r', signal: AbortSignal.timeout(60_000) };
    while (old.breakers.findState(name)?.isOpen !== true)
      await provider.jobs?.IMAGE?.start({ kind: 'IMAGE', prompt: 'a fox' }, call).catch(() => undefined);
    // What is published later comes later.
    const heard = new Promise((resolve) => engine.bus.listen('a test', resolve));
    engine.bus.publish('a test', 'heard', 1);
    await heard;
    const areOpen = await ofBoth(fresh, ({ breaker }) => (breaker?.pauseMs() ?? 0) > 0);
    expect(areOpen).toEqual(bothHave(fresh, true, false));
  });

  it('has its slots and its pace at the same provider', async () => {
    const { before, after } = lists();
    const limits = { concurrency: 2, requestsPerMinute: 10 };
    for (const upstream of [one, other]) upstream.onStatus = () => ({ state: 'running', progress: 1 });
    const old = await processWith(...withLimits(before, limits));
    if (old.find(other)) await old.health.pause(me, old.at(other).name, '');
    const worker = await old.worker();
    await old.service.submit(me, image());
    await until(async () => one.starts.length === 1);
    await worker.stop(1);
    const fresh = await processWith(...withLimits(after, limits));
    const room = async (binding: Binding) => {
      const { free, lacks } = await readRoom(engine.database, binding);
      return { free, lacks };
    };
    const free = { free: 1, lacks: null };
    expect(await ofBoth(fresh, room)).toEqual(bothHave(fresh, { free: 0, lacks: 'request' }, free));
    const health = await fresh.health.all();
    const open = await ofBoth(fresh, ({ name }) => health.find(({ binding }) => binding === name)?.open);
    expect(open).toEqual(bothHave(fresh, 1, 0));
    await engine.pool.query('delete from media.binding_paces');
    const unpaced = await ofBoth(fresh, async ({ requestsPerMinute: _minute, ...binding }) => room(binding));
    expect(unpaced).toEqual(bothHave(fresh, free, { free: 2, lacks: null }));
  });
});

describe('two processes whose lists are in another order', () => {
  it('keep all work from the binding that is paused in one of them', async () => {
    const [here, there] = [await processWith([one], [other]), await processWith([other], [one])];
    for (const each of [here, there]) await each.worker();
    await there.health.pause(me, there.at(one).name, '');
    await until(async () => here.pauses.of(here.at(one).name));
    const ids: string[] = [];
    for (const { service } of [here, there])
      for (let count = 0; count < 4; count += 1) ids.push((await service.submit(me, image())).id);
    for (const id of ids) expect((await engine.ended(here.service, id)).state).toBe('SUCCEEDED');
    expect([one.starts.length, other.starts.length]).toEqual([0, 8]);
  });

  it('together hold the slots and the pace of each provider', async () => {
    for (const upstream of [one, other]) upstream.onStatus = () => ({ state: 'running', progress: 1 });
    const limits = { concurrency: 3 };
    const processes = [
      await processWith([one, limits], [other, limits]),
      await processWith([other, limits], [one, limits]),
    ];
    for (const each of processes) await each.worker();
    for (const { service } of processes)
      for (let count = 0; count < 8; count += 1) await service.submit(me, image());
    await until(async () => one.starts.length >= 3 && other.starts.length >= 3);
    // One more may be opened by both at once: it waits for a slot, unsent.
    const sent = `select 1 from media.attempts where state = 'RUNNING'`;
    await until(async () => (await engine.pool.query(sent)).rowCount === 6);
    expect([one.mostOpen(), other.mostOpen()]).toEqual([3, 3]);
  });
});

describe('work that waits at the place of a binding', () => {
  /** The start at a place is due now, though whoever looked at it had no binding for it there; false where there is none. */
  async function hasten(place: string): Promise<boolean> {
    const text = 'update queue.jobs set due_at = now() where queue = $1';
    return (await engine.pool.query(text, [startQueue(place)])).rowCount !== 0;
  }

  it('goes to the binding that has its model when the list is in another order', async () => {
    const before = await processWith([one, { model: 'm' }], [other, { model: 'n' }]);
    const work = { kind: 'IMAGE', generator: 'test', prompt: 'a fox', model: 'm' } as const;
    const { id } = await before.service.submit(me, image('a fox', { work }));
    const { service, worker } = await processWith([other, { model: 'n' }], [one, { model: 'm' }]);
    await worker();
    await until(() => hasten('test#1'));
    expect((await engine.ended(service, id)).state).toBe('SUCCEEDED');
    expect([one.starts.length, other.starts.length]).toEqual([1, 0]);
  });

  it('is handed back where no binding has its model, and done by a process that has one', async () => {
    const before = await processWith([one, { model: 'm' }]);
    const work = { kind: 'IMAGE', generator: 'test', prompt: 'a fox', model: 'm' } as const;
    const { id } = await before.service.submit(me, image('a fox', { work }));
    const stranger = await processWith([other, { model: 'n' }]);
    const stopped = await stranger.worker();
    const noted = 'select 1 from media.task_steps where unknown_since is not null';
    await until(async () => (await engine.pool.query(noted)).rowCount === 1);
    await stopped.stop(1);
    expect(await hasten('test#0')).toBe(true);
    await before.worker();
    expect((await engine.ended(before.service, id)).state).toBe('SUCCEEDED');
    expect([one.starts.length, other.starts.length]).toEqual([1, 0]);
  });

  it('that no process takes is given up after a while', async () => {
    const before = await processWith([one, { model: 'm' }]);
    const work = { kind: 'IMAGE', generator: 'test', prompt: 'a fox', model: 'm' } as const;
    const { id } = await before.service.submit(me, image('a fox', { work }));
    const { registry } = await processWith([other, { model: 'n' }]);
    await engine.worker(registry, { limits: { sweepPauseMs: 50, unconfiguredSeconds: 0.3 } });
    const { state, error } = await engine.ended(before.service, id);
    expect([state, error?.code]).toEqual(['FAILED', 'UNAVAILABLE']);
    expect(other.starts).toEqual([]);
  });
});

it('work that fails after the list was put in another order goes on at the next provider', async () => {
  one.onStatus = () => ({ state: 'running', progress: 1 });
  const before = await processWith([one], [other]);
  const worker = await before.worker();
  const { id } = await before.service.submit(me, image());
  await until(async () => one.starts.length === 1);
  await worker.stop(1);
  one.onStatus = () => ({ state: 'failed', retryable: true });
  const after = await processWith([other], [one]);
  await after.worker();
  expect((await engine.ended(after.service, id)).state).toBe('SUCCEEDED');
  expect([one.starts.length, other.starts.length]).toEqual([1, 1]);
});

describe('beside processes of the release before, which know places only', () => {
  const paused = async (condition: string): Promise<number | null> =>
    (await engine.pool.query(`select 1 from media.paused_bindings where ${condition}`)).rowCount;

  it('a pause of theirs is of the binding that has the place, and stays with it', async () => {
    await engine.pool.query(
      `insert into media.paused_bindings (binding, reason, paused_by) values ('test#0', 'theirs', 'usr_old')`,
    );
    const { pauses, at } = await processWith([one], [other]);
    expect(pauses.of(at(one).name)).toMatchObject({ reason: 'theirs' });
    const after = await processWith([other], [one]);
    expect(after.pauses.of(after.at(one).name)).toMatchObject({ reason: 'theirs' });
    expect(after.pauses.of(after.at(other).name)).toBeNull();
  });

  it('a pause of ours is one of theirs, and is ended by either', async () => {
    const { health, pauses, at } = await processWith([one], [other]);
    await health.pause(me, at(one).name, 'ours');
    expect(await paused(`binding = 'test#0'`)).toBe(1);
    await engine.pool.query(`delete from media.paused_bindings where binding = 'test#0'`);
    await pauses.load();
    expect(pauses.of(at(one).name)).toBeNull();
    // Called by its place, as they call it.
    expect(await health.pause(me, 'test#0', 'again')).toMatchObject({ binding: at(one).name });
    expect(await health.resume('test#0')).toMatchObject({ paused: null });
    expect(await paused('true')).toBe(0);
  });

  it('of two bindings paused at one place, one after the other, each keeps its pause', async () => {
    const before = await processWith([one], [other]);
    await before.health.pause(me, before.at(one).name, 'of one');
    const after = await processWith([other], [one]);
    await after.health.pause(me, after.at(other).name, 'of other');
    await after.health.pause(me, after.at(other).name, 'of other, again');
    const reasons = (await after.health.all()).map(({ paused: it }) => it?.reason);
    expect(reasons).toEqual(['of other, again', 'of one']);
    await after.health.resume(after.at(other).name);
    expect((await after.health.all()).map(({ paused: it }) => it?.reason)).toEqual([undefined, 'of one']);
  });

  it('what they have begun holds slots of the place, and what they count, and lock, is counted for both', async () => {
    const limits = { concurrency: 3, requestsPerMinute: 10 };
    for (const upstream of [one, other]) upstream.onStatus = () => ({ state: 'running', progress: 1 });
    const { at, service, worker } = await processWith([one, limits], [other, limits]);
    await worker();
    await service.submit(me, image());
    await until(async () => one.starts.length === 1);
    await engine.pool.query(`update media.attempts set binding_name = null, upstream = null`);
    await engine.pool.query('delete from media.binding_paces where binding = $1', [at(one).name]);
    expect(await readRoom(engine.database, at(one))).toMatchObject({ free: 1 });
    const kept = await engine.pool.query('select binding from media.binding_paces');
    expect(kept.rows).toEqual([{ binding: 'test#0' }]);
  });
});
