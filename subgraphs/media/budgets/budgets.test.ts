import { setTimeout as pause } from 'node:timers/promises';

import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import type { Caller } from '../../../platform/access/caller.ts';
import { AppError } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { createStepPlanner } from '../recipes/planner.ts';
import { expectedSteps } from '../submissions/estimates.ts';
import type { RunningTaskService } from '../tasks/rules/service.ts';
import {
  image,
  me,
  nobody,
  toRegistry,
  startEngine,
  until,
  type TestEngine,
} from '../tasks/testing/engine.ts';
import { PRICED, testBinding, testProvider } from '../tasks/testing/provider.ts';
import { startUpstream, type Upstream } from '../tasks/testing/upstream.ts';
import { createUsageService } from '../usage/service.ts';
import { createBudgets, type Budgets } from './budgets.ts';

let engine: TestEngine;
let upstream: Upstream;
/** Two processes: each with its own cache and service. */
let processes: readonly { readonly budgets: Budgets; readonly tasks: RunningTaskService }[];
const warnings: unknown[] = [];
const published: unknown[] = [];

beforeAll(async () => {
  engine = await startEngine();
  upstream = await startUpstream();
  upstream.onStart = async ({ prompt }) => (prompt === 'refused' ? { status: 400 } : 'accept');
  const provider = testProvider(engine.http, { name: 'painter' });
  const registry = toRegistry(
    testBinding('test#0', provider, upstream.url, { prices: PRICED, concurrency: 8 }),
    testBinding('other#0', provider, upstream.url),
    testBinding('free#0', provider, upstream.url, { prices: PRICED, sandbox: true }),
  );
  const planner = createStepPlanner(registry);
  const logger = { ...engine.logger, warn: (...line: unknown[]) => void warnings.push(line) };
  processes = [1, 2].map(() => {
    const budgets = createBudgets({
      ...engine,
      logger,
      currency: 'USD',
      expectedParts: (work) => expectedSteps({ registry, planner }, work),
      publish: async (_scope, event) => void published.push(event),
    });
    const { startGate, warnings: budgetWarnings } = budgets;
    return { budgets, tasks: engine.service(registry, { startGate, budgetWarnings }) };
  });
  await engine.worker(registry, { maxAttempts: 1, budgetWarnings: processes[1]?.budgets.warnings });
});
afterAll(async () => {
  for (const { budgets } of processes) budgets.close();
  await engine.stop();
  await upstream.close();
});
beforeEach(async () => {
  const { service } = first().budgets;
  for (const { id } of await service.all()) await service.remove(id);
  upstream.onStatus = () => ({ state: 'finished' });
  warnings.length = 0;
  published.length = 0;
});

const first = () => {
  const [one] = processes;
  if (one === undefined) throw new Error('there are two');
  return one;
};
const key: Caller = { ...me, kind: 'key', id: 'key_robot' };

/** What one image of the tests costs, in millionths and in the currency. */
const ONE = 20_000;
const inCurrency = (images: number): number => (images * ONE) / 1_000_000;

async function settled(id: string) {
  return until(async () => {
    const budget = (await first().budgets.service.all()).find((one) => one.id === id);
    return budget?.running === 0 ? budget : null;
  });
}

/** Two hundred at once may be more than the database's line bears: whoever is told so comes again. */
async function unlessBusy<Value>(ask: () => Promise<Value>): Promise<Value> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'UNAVAILABLE') throw error;
      await pause((error.retryAfter ?? 1) * 1_000);
    }
  }
}

describe('a budget', () => {
  it('for ten takes exactly ten of two hundred starts at once, and charges them when they end', async () => {
    const { service } = first().budgets;
    const { id } = await service.create('USER', 'usr_me', { amount: inCurrency(10.5) });
    let isDone = false;
    upstream.onStatus = () => (isDone ? { state: 'finished' } : { state: 'running', progress: 1 });
    const answers = await Promise.allSettled(
      Array.from({ length: 100 }).flatMap((_, index) =>
        processes.map(({ tasks }) => unlessBusy(() => tasks.submit(me, image(`fox ${index}`)))),
      ),
    );
    const taken = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const refused = answers.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    expect([taken.length, refused.length]).toEqual([10, 190]);
    expect(refused.at(-1)).toMatchObject({
      code: 'BUDGET_EXCEEDED',
      message: expect.stringMatching(
        /allows 0.21 USD a month: 0.01 USD are left, .*expected to cost 0.02; it renews/,
      ),
      retryAfter: expect.any(Number),
      limit: { left: 0.01, renewsAt: expect.stringMatching(/^\d{4}-\d\d-01T00:00:00/) },
    });
    expect(await service.own(me)).toMatchObject([{ id, spent: 0, reserved: 10 * ONE, running: 10 }]);
    expect(await engine.count('media.tasks')).toBe(10);
    expect(upstream.starts.length).toBeLessThanOrEqual(10);
    isDone = true;
    expect(await settled(id)).toMatchObject({ spent: 10 * ONE, reserved: 0 });
    await expect(first().tasks.submit(me, image())).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' });
    await first().tasks.submit(key, image());
  });

  it('is spent by no work of the sandbox, before its end or after, nor when it is made later', async () => {
    const { service } = first().budgets;
    const player: Caller = { ...me, id: 'usr_player' };
    const { id } = await service.create('USER', player.id, { amount: inCurrency(0.5) });
    const free = { kind: 'IMAGE', generator: 'free', prompt: 'a fox' } as const;
    await first().tasks.submit(player, image('sandbox', { work: free }));
    expect(await settled(id)).toMatchObject({ spent: 0, reserved: 0 });
    await expect(first().tasks.submit(player, image())).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' });
    const later = await service.create('TOTAL', null, { amount: inCurrency(1) });
    const { rows } = await sql<{ cost: string }>`
      select sum(cost) as cost from media.usage where generator = 'free'`.execute(engine.database);
    expect(Number(rows[0]?.cost)).toBe(ONE);
    await service.update(later.id, { amount: inCurrency(2), softAmount: inCurrency(1) });
    const before = await sql<{ spent: string }>`
      select coalesce(sum(cost), 0) as spent from media.usage where not sandbox and currency = 'USD'`.execute(
      engine.database,
    );
    expect((await service.all()).find((one) => one.id === later.id)?.spent).toBe(
      Number(before.rows[0]?.spent),
    );
  });

  it('releases what was reserved for work that fails or is cancelled', async () => {
    const { service } = first().budgets;
    const { id } = await service.create('TOTAL', null, { amount: inCurrency(100), period: 'DAY' });
    const before = await settled(id);
    upstream.onStatus = ({ prompt }) =>
      prompt === 'cancelled' ? { state: 'running', progress: 1 } : { state: 'finished' };
    await first().tasks.submit(me, image('refused'));
    const task = await first().tasks.submit(key, image('cancelled'));
    await first().tasks.cancel(key, task.id);
    const after = await settled(id);
    expect([after.spent - before.spent, after.reserved]).toEqual([0, 0]);
  });

  it('knows from its beginning what was spent in its period and what runs', async () => {
    upstream.onStatus = () => ({ state: 'running', progress: 1 });
    const robot: Caller = { ...key, id: 'key_new' };
    const open = await first().tasks.submit(robot, image());
    const { service } = first().budgets;
    const mine = await service.create('USER', 'usr_me', { amount: 1, maxRunning: 3 });
    expect(mine).toMatchObject({ spent: 10 * ONE, name: 'usr_me', currency: 'USD' });
    const theirs = await service.create('KEY', 'key_new', { maxRunning: 1 });
    expect(theirs).toMatchObject({ running: 1, currency: null });
    await expect(processes[1]?.tasks.submit(robot, image())).rejects.toMatchObject({
      code: 'BUDGET_EXCEEDED',
      message: 'your budget allows 1 running at once, and 1 run now; nothing was started',
      retryAfter: 5,
    });
    await first().tasks.cancel(robot, open.id);
    await settled(theirs.id);
    await service.update(theirs.id, { maxRunning: null, startsPerMinute: 0 });
    await expect(first().tasks.submit(robot, image())).rejects.toMatchObject({
      code: 'BUDGET_EXCEEDED',
      message: 'your budget allows 0 starts a minute; nothing was started',
      limit: { allowed: '0 starts a minute', left: 0, renewsAt: null },
    });
  });

  it('of a generator bounds that one, takes unknown prices or refuses them, and tells no numbers', async () => {
    const { service } = first().budgets;
    const other = image('free', { work: { kind: 'IMAGE', generator: 'other', prompt: 'a fox' } });
    const { id } = await service.create('GENERATOR', 'other', { amount: 5 });
    await engine.ended(first().tasks, (await first().tasks.submit(me, other)).id);
    expect(await settled(id)).toMatchObject({ spent: 0, reserved: 0 });
    await service.update(id, { refusesUnknown: true });
    const refusal: unknown = await first()
      .tasks.submit(me, other)
      .catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      message: 'the budget of generator other takes no work whose price is unknown; nothing was started',
      limit: undefined,
    });
    await first().tasks.submit(me, image());
    expect(await service.own(me)).toEqual([]);
    expect(await service.own(nobody('127.0.0.1'))).toEqual([]);
  });

  it('of the buyer does not bound what was sold, which counts against those of the seller', async () => {
    const { service } = first().budgets;
    const own = await service.create('USER', 'usr_me', { maxRunning: 0 });
    const { id } = await service.create('GENERATOR', 'test', { amount: inCurrency(100) });
    const before = await settled(id);
    const { rows } = await sql<{ cost: string }>`
      select sum(cost) as cost from media.usage where generator = 'test' and not sandbox`.execute(
      engine.database,
    );
    expect(before.spent).toBe(Number(rows[0]?.cost));
    expect(before.spent).toBeGreaterThan(0);
    const { work, fileIds } = image();
    const sold = { id: newId(), owner: me.id, onEnd: null, sold: true };
    await first().tasks.start({ ...sold, work, fileIds, idempotencyKey: null, fingerprint: null });
    await engine.ended(first().tasks, sold.id);
    const after = await settled(id);
    expect(after.spent - before.spent).toBe(ONE);
    expect(await service.own(me)).toMatchObject([{ id: own.id, running: 0 }]);
    const totals = createUsageService({ database: engine.database, authMode: 'compat' });
    const admin = { ...me, id: 'usr_admin', scopes: ['admin'] };
    expect(await totals.usage(admin, { by: ['OWNER'] })).toContainEqual(
      expect.objectContaining({ owner: 'sold', succeeded: 1, microUnits: ONE }),
    );
    await expect(first().tasks.check(work, me.id)).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' });
    await service.create('TOTAL', null, { maxRunning: 0 });
    await expect(first().tasks.check(work, 'sold')).rejects.toMatchObject({
      code: 'BUDGET_EXCEEDED',
      message: 'the budget of this service allows no more work at once; nothing was started',
    });
    await first().tasks.check(work, null);
  });

  it('warns once in a period when its soft amount is reached, in the log and as an event', async () => {
    const { service } = first().budgets;
    const robot: Caller = { ...key, id: 'key_soft' };
    const { id, renewsAt } = await service.create('KEY', robot.id, { softAmount: inCurrency(3) });
    for (let count = 0; count < 5; count += 1) await first().tasks.submit(robot, image());
    const { period } = await settled(id);
    const facts = { name: robot.id, scope: 'KEY', subject: robot.id, period, currency: 'USD' };
    const amounts = { amount: null, softAmount: 0.06, left: null, renewsAt: renewsAt.toISOString() };
    const [event] = published as [{ data: { spent: number; reserved: number } }];
    const { spent, reserved } = event.data;
    expect(spent + reserved).toBeCloseTo(0.06);
    const data = { ...facts, ...amounts, spent, reserved };
    const at = expect.any(Date) as Date;
    expect(published).toEqual([
      { id: expect.any(String) as string, type: 'budget.warning', at, data: { id, ...data } },
    ]);
    expect(warnings).toEqual([[{ budget: id, ...data }, 'a budget has passed its soft amount']]);
    await service.update(id, { amount: 1 });
    await first().tasks.submit(robot, image());
    await settled(id);
    // A soft amount beyond what is spent is another one to warn of.
    await service.update(id, { softAmount: inCurrency(7) });
    await first().tasks.submit(robot, image());
    await settled(id);
    expect(published.slice(1)).toMatchObject([{ data: { id, amount: 1, softAmount: 0.14, left: 0.86 } }]);
  });

  it('warns of what is charged, where the soft amount has come to be less than that', async () => {
    const { service } = first().budgets;
    const robot: Caller = { ...key, id: 'key_lower' };
    upstream.onStatus = () => ({ state: 'running', progress: 10 });
    const { id } = await service.create('KEY', robot.id, { softAmount: inCurrency(2) });
    await first().tasks.submit(robot, image());
    await service.update(id, { softAmount: inCurrency(1) });
    expect(published).toEqual([]);
    upstream.onStatus = () => ({ state: 'finished' });
    await settled(id);
    expect(published).toMatchObject([
      { type: 'budget.warning', data: { id, softAmount: 0.02, spent: 0.02 } },
    ]);
  });

  it.each([
    [
      'USER',
      'key_robot',
      { amount: 1 },
      'subject',
      'the id of a user (usr_...), or anon for callers without',
    ],
    ['KEY', 'usr_me', { amount: 1 }, 'subject', 'the id of a service key (key_...)'],
    ['GENERATOR', '', { amount: 1 }, 'subject', 'the name of a generator'],
    ['TOTAL', 'usr_me', { amount: 1 }, 'subject', 'must be absent'],
    ['TOTAL', null, {}, 'amount', 'needs amount, softAmount, maxRunning or startsPerMinute'],
    ['TOTAL', null, { amount: -1 }, 'amount', 'must be from 0 to 1000000000'],
    ['TOTAL', null, { amount: 1, softAmount: 2 }, 'softAmount', 'must not be more than amount'],
    ['TOTAL', null, { maxRunning: 1_000_001 }, 'maxRunning', 'must be from 0 to 1000000'],
    ['TOTAL', null, { startsPerMinute: -1 }, 'startsPerMinute', 'must be from 0 to 1000000'],
    ['TOTAL', null, { amount: 1, name: 'x'.repeat(201) }, 'name', 'at most 200 characters'],
  ] as const)('is refused as %s of %s with %o', async (scope, subject, input, field, remedy) => {
    await expect(first().budgets.service.create(scope, subject, input)).rejects.toMatchObject({
      field,
      message: expect.stringContaining(remedy),
    });
  });
});

it('adds up what the parts of a start cost, and looks at its own alone', async () => {
  const { service, gate } = first().budgets;
  const cost = { microUnits: 1, currency: 'USD', units: {}, estimated: true };
  const part = (microUnits: number | null, more: object = {}) => ({
    generator: 'test',
    cost: { ...cost, microUnits },
    ...more,
  });
  const check = (...parts: readonly ReturnType<typeof part>[]) =>
    gate.check({ owner: 'usr_parts', parts: () => parts });
  const { id } = await service.create('USER', 'usr_parts', { amount: 0.05, refusesUnknown: true });
  await check(part(20_000), part(30_000));
  await check(part(50_000), part(90_000, { sandbox: true }));
  await expect(check(part(20_000), part(30_001))).rejects.toMatchObject({
    code: 'BUDGET_EXCEEDED',
    message: expect.stringContaining('0.05 USD are left, this is expected to cost 0.050001; it renews'),
  });
  const inEuros = part(1, { cost: { ...cost, currency: 'EUR' } });
  for (const parts of [
    [part(1), part(null)],
    [part(null), part(1)],
    [part(1), inEuros],
  ]) {
    await expect(check(...parts)).rejects.toMatchObject({
      message:
        'your budget allows 0.05 USD a month, and takes no work whose price is unknown; nothing was started',
      limit: { allowed: '0.05 USD a month', left: 0.05, renewsAt: null },
    });
  }
  await service.update(id, { period: 'DAY' });
  await expect(check(part(1), part(null))).rejects.toMatchObject({ limit: { allowed: '0.05 USD a day' } });
  await service.update(id, { refusesUnknown: false });
  await check(part(1), part(null));

  await service.create('GENERATOR', 'fox', { amount: 0.01, period: 'DAY' });
  await expect(check(part(20_000, { generator: 'fox' }))).rejects.toMatchObject({
    message: expect.stringMatching(
      /^the budget of generator fox is used up; it renews at \d{4}-\d\d-\d\dT00:00:00.000Z; nothing was started$/,
    ),
    limit: undefined,
  });
  await check(part(20_000), part(10_000, { generator: 'fox' }));
  await service.create('GENERATOR', 'owl', { startsPerMinute: 0 });
  await expect(check(part(0, { generator: 'owl' }))).rejects.toMatchObject({
    message: 'the budget of generator owl allows no more starts this minute; nothing was started',
  });
});

it('keeps what a change does not name, takes away what is null, takes its bounds, and is called by its subject', async () => {
  const { service } = first().budgets;
  const terms = { amount: 2, softAmount: 1, maxRunning: 3, startsPerMinute: 4 };
  const made = await service.create('USER', 'usr_terms', {
    ...terms,
    name: ' Team ',
    period: 'DAY',
    refusesUnknown: true,
  });
  const kept = { ...terms, amount: 2e6, softAmount: 1e6, name: 'Team', period: 'DAY', currency: 'USD' };
  expect(made).toMatchObject({ ...kept, refusesUnknown: true });
  expect(await service.update(made.id, {})).toMatchObject({ ...kept, refusesUnknown: true });
  const less = { amount: null, softAmount: null, maxRunning: null, name: '', period: 'MONTH' } as const;
  expect(await service.update(made.id, less)).toMatchObject({
    ...less,
    startsPerMinute: 4,
    currency: null,
    name: 'usr_terms',
  });
  for (const [amount, count] of [
    [0, 0],
    [1_000_000_000, 1_000_000],
  ] as const) {
    const bound = { amount, softAmount: amount, maxRunning: count, startsPerMinute: count };
    const [money, counts] = [amount * 1e6, { maxRunning: count, startsPerMinute: count }];
    expect(await service.update(made.id, bound)).toMatchObject({
      ...counts,
      amount: money,
      softAmount: money,
    });
  }
  await service.update(made.id, { ...less, startsPerMinute: 4 });
  await expect(service.update(made.id, { startsPerMinute: null })).rejects.toMatchObject({ field: 'amount' });
  const soft = await service.create('TOTAL', null, { softAmount: 0.0000016 });
  expect(soft).toMatchObject({ softAmount: 2, amount: null, currency: 'USD', name: 'Everything' });
  expect(soft).toMatchObject({ period: 'MONTH', refusesUnknown: false });
  await service.create('USER', 'anon', { maxRunning: 1, name: 'Another' });
  expect((await service.all()).map(({ name }) => name)).toEqual(['Everything', 'Another', 'usr_terms']);
  expect(await service.remove(soft.id)).toMatchObject({ id: soft.id });
  for (const id of ['no id', soft.id]) {
    await expect(service.update(id, { amount: 1 })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(service.remove(id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  }
});

it('counts what is being charged while it is made or changed, and what its period has', async () => {
  const { service } = first().budgets;
  const spend = `insert into media.usage (day, owner, generator, provider, model, sandbox, currency, shard, cost)
    values ($1::date, 'usr_spender', 'test', 'p', '', false, 'USD', $2, $3)`;
  const { rows } = await engine.pool.query<{ today: string; first: string }>(
    `select (now() at time zone 'utc')::date::text as today, date_trunc('month', now() at time zone 'utc')::date::text as first`,
  );
  const { today = '', first: firstDay = '' } = rows[0] ?? {};
  const isFirst = today === firstDay;
  await engine.pool.query(spend, [firstDay, 1, 100]);
  /** Does it while work is being charged that has not been committed, and waits for a lock. */
  const whileCharging = async <Value>(shard: number, work: () => Promise<Value>): Promise<Value> => {
    const charging = await engine.pool.connect();
    await charging.query('begin');
    await charging.query(spend, [today, shard, 1]);
    let isDone = false;
    const waiting = work().finally(() => (isDone = true));
    const waits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await until(async () => isDone || (await engine.pool.query(waits)).rowCount);
    await charging.query('commit');
    charging.release();
    return waiting;
  };
  const make = () => service.create('USER', 'usr_spender', { amount: 1 });
  const made = await whileCharging(2, make);
  expect(made.spent).toBe(101);
  const daily = await whileCharging(3, () => service.update(made.id, { period: 'DAY' }));
  expect(daily.spent).toBe(isFirst ? 102 : 2);
  expect(await service.update(made.id, { period: 'MONTH' })).toMatchObject({ spent: 102 });
});

it('takes the most that each of its terms may be, and amounts only where work has prices', async () => {
  const name = 'x'.repeat(200);
  const most = { amount: 1e9, softAmount: 1e9, maxRunning: 1_000_000, startsPerMinute: 1_000_000, name };
  const { service } = first().budgets;
  const made = await service.create('KEY', 'key_most', most);
  expect(made).toMatchObject({ ...most, amount: 1e15, softAmount: 1e15 });
  const unpriced = createBudgets({ ...engine, currency: null, expectedParts: () => [] });
  await expect(unpriced.service.create('TOTAL', null, { amount: 1 })).rejects.toMatchObject({
    field: 'amount',
    message: expect.stringContaining('see PRICES_FILE'),
  });
  expect(await unpriced.service.create('KEY', 'key_most', { maxRunning: 1 })).toMatchObject({
    currency: null,
  });
  unpriced.close();
});

it('of one installation are 10,000, and no more', async () => {
  const { service } = first().budgets;
  await sql`insert into media.budgets (id, name, scope, subject, period, refuses_unknown, period_start)
    select gen_random_uuid(), '', 'USER', 'usr_' || number, 'DAY', false, now()
    from generate_series(1, 9999) as number`.execute(engine.database);
  await service.create('USER', 'usr_last', { amount: 1 });
  await expect(service.create('USER', 'usr_more', { amount: 1 })).rejects.toMatchObject({
    code: 'BAD_USER_INPUT',
    field: 'scope',
  });
  await sql`delete from media.budgets`.execute(engine.database);
});
