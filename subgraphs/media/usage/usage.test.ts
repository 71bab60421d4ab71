import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Caller } from '../../../platform/access/caller.ts';
import type { RunningTaskService } from '../tasks/rules/service.ts';
import {
  image,
  me,
  nobody,
  toRegistry,
  startEngine,
  stranger,
  until,
  type TestEngine,
} from '../tasks/testing/engine.ts';
import { PRICED, testBinding, testProvider } from '../tasks/testing/provider.ts';
import { totalsAndRecount } from '../tasks/testing/recount.ts';
import { startUpstream, type Upstream } from '../tasks/testing/upstream.ts';
import { createUsageService } from './service.ts';

let engine: TestEngine;
let upstream: Upstream;
let tasks: RunningTaskService;
beforeAll(async () => {
  engine = await startEngine();
  upstream = await startUpstream();
  const provider = testProvider(engine.http, { name: 'painter' });
  const binding = testBinding('test#0', provider, upstream.url, { prices: PRICED, concurrency: 4 });
  tasks = engine.service(toRegistry(binding));
  await engine.worker(toRegistry(binding), { maxAttempts: 1 });
});
afterAll(async () => {
  await engine.stop();
  await upstream.close();
});

const admin: Caller = { ...me, id: 'usr_admin', scopes: ['admin'] };
const key: Caller = { ...me, kind: 'key', id: 'key_robot' };

describe('usage', () => {
  it('is exact after a history of ends, failures and cancels', async () => {
    upstream.onStart = async ({ prompt }) => (prompt === 'refused' ? { status: 400 } : 'accept');
    upstream.onStatus = ({ prompt, polls }) => {
      if (prompt === 'breaks') return { state: 'failed', retryable: false };
      return prompt === 'cancelled' || polls < 2 ? { state: 'running', progress: 1 } : { state: 'finished' };
    };
    const prompts = ['a', 'b', 'refused', 'breaks', 'cancelled', 'c'];
    const started = await Promise.all(
      [me, key, stranger].flatMap((caller) => prompts.map((prompt) => tasks.submit(caller, image(prompt)))),
    );
    for (const { id, owner, input } of started) {
      if (input['prompt'] === 'cancelled') await tasks.cancel({ ...me, id: owner }, id);
    }
    for (const { id } of started) {
      await until(async () => {
        const [task] = await tasks.readMany(admin, [id]);
        return task?.endedAt;
      });
    }
    await until(async () => {
      const { totals, recount } = await totalsAndRecount(engine.database);
      return JSON.stringify(totals) === JSON.stringify(recount);
    });
    const usage = createUsageService({ database: engine.database, authMode: 'compat' });
    const [mine] = await usage.usage(me, { by: ['OWNER'] });
    expect(mine).toMatchObject({ owner: 'usr_me', succeeded: 3, failed: 2, cancelled: 1, currency: 'USD' });
    expect(mine).toMatchObject({ microUnits: 60_000, unpriced: 0, units: { pictures: 3, runs: 3 } });
    const all = await usage.usage(admin, { by: ['KEY', 'PROVIDER'] });
    expect(all.map((row) => [row.key, row.provider, row.microUnits])).toEqual(
      expect.arrayContaining([
        ['key_robot', 'painter', 60_000],
        [null, 'painter', 120_000],
      ]),
    );
    expect(await usage.usage(nobody('127.0.0.1'), { by: [] })).toEqual([]);
    const [total] = await usage.usage(admin, { by: [], sandbox: false });
    expect(total).toMatchObject({ succeeded: 9, attempts: expect.any(Number), microUnits: 180_000 });
    expect(await usage.usage(admin, { by: ['DAY'], sandbox: true })).toEqual([]);
  });

  it('adds up no amounts of different currencies', async () => {
    await sql`insert into media.usage (day, owner, generator, provider, model, sandbox, currency, shard, cost, runs)
      values (current_date, 'usr_euro', 'test', 'painter', '', false, 'EUR', 0, 7, 1)`.execute(
      engine.database,
    );
    const usage = createUsageService({ database: engine.database, authMode: 'compat' });
    const all = await usage.usage(admin, { by: [] });
    expect(all.map(({ currency, microUnits }) => [currency, microUnits])).toEqual([
      ['EUR', 7],
      ['USD', 180_000],
    ]);
  });

  it('has no cost where none is known', async () => {
    await sql`insert into media.usage (day, owner, generator, provider, model, sandbox, currency, shard,
        attempts_succeeded, unpriced)
      values (current_date, 'usr_free', 'test', 'free', '', false, 'USD', 0, 2, 2)`.execute(engine.database);
    const usage = createUsageService({ database: engine.database, authMode: 'compat' });
    const [free] = await usage.usage({ ...me, id: 'usr_free' }, { by: [] });
    expect(free).toMatchObject({ microUnits: null, unpriced: 2, currency: 'USD' });
  });

  it('has every end and unit of its rows, of a day or of 366, once however often a dimension is named', async () => {
    await sql`insert into media.usage (day, owner, generator, provider, model, sandbox, currency, shard,
        pictures, milliseconds, characters, input_tokens, cached_tokens, output_tokens, runs, gpu_milliseconds,
        tasks_succeeded, tasks_failed, tasks_cancelled, attempts_succeeded, attempts_failed, chats, unpriced, cost)
      values ('2026-01-02', 'usr_units', 'g', '', '', true, 'USD', 0,
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 38, 99)`.execute(engine.database);
    const service = createUsageService({ database: engine.database, authMode: 'compat' });
    const to = new Date('2026-01-02T23:00:00Z');
    const ask = (from: Date, sandbox: boolean | null = null) =>
      service.usage(
        { ...me, id: 'usr_units' },
        { by: ['MODEL', 'GENERATOR', 'PROVIDER', 'MODEL'], from, to, sandbox },
      );
    const row = {
      day: null,
      model: null,
      generator: 'g',
      provider: null,
      owner: null,
      key: null,
      succeeded: 9,
      failed: 10,
      cancelled: 11,
      attempts: 25,
      chats: 14,
      // One of 39 has a known cost.
      unpriced: 38,
      microUnits: 99,
      currency: 'USD',
      units: {
        pictures: 1,
        milliseconds: 2,
        characters: 3,
        inputTokens: 4,
        cachedTokens: 5,
        outputTokens: 6,
        runs: 7,
        gpuMilliseconds: 8,
      },
    };
    const longest = new Date('2025-01-01T23:00:00Z');
    expect(await ask(to)).toEqual([row]);
    expect(await ask(longest, true)).toEqual([row]);
    expect(await ask(longest, false)).toEqual([]);
    await expect(ask(new Date(longest.getTime() - 1))).rejects.toMatchObject({ field: 'from' });
  });

  it('says so when there is more than one answer may have', async () => {
    await sql`insert into media.usage (day, owner, generator, provider, model, sandbox, currency, shard, runs)
      select current_date, 'usr_many', 'test', 'painter', 'model ' || number, false, 'USD', 0, 1
      from generate_series(1, 10001) as number`.execute(engine.database);
    const usage = createUsageService({ database: engine.database, authMode: 'compat' });
    const many = { ...me, id: 'usr_many' };
    await expect(usage.usage(many, { by: ['MODEL'] })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'by',
    });
    await sql`delete from media.usage where model = 'model 1'`.execute(engine.database);
    expect(await usage.usage(many, { by: ['MODEL'] })).toHaveLength(10_000);
  });

  it('is of the last 30 days, today among them, where no other time is asked for', async () => {
    await sql`insert into media.usage (day, owner, generator, provider, model, sandbox, currency, shard, runs)
      select (now() at time zone 'utc')::date - ago, 'usr_old', 'test', 'painter', '', false, 'USD', 0, 1
      from unnest(array[0, 29, 30]) as ago`.execute(engine.database);
    const usage = createUsageService({ database: engine.database, authMode: 'compat' });
    const days = await usage.usage({ ...me, id: 'usr_old' }, { by: ['DAY'] });
    const ago = days.map(({ day }) => Math.floor((Date.now() - Date.parse(`${day}T00:00:00Z`)) / 86_400_000));
    expect(ago.toSorted((one, other) => one - other)).toEqual([0, 29]);
  });

  it('refuses ranges that are turned round or too long', async () => {
    const usage = createUsageService({ database: engine.database, authMode: 'compat' });
    const from = new Date('2026-01-02');
    await expect(usage.usage(me, { by: [], from, to: new Date('2026-01-01') })).rejects.toThrow('after to');
    await expect(usage.usage(me, { by: [], from, to: new Date('2028-01-01') })).rejects.toThrow('366 days');
    for (const [field, moment] of [
      ['from', '0000-12-31T23:00:00Z'],
      ['to', '9999-12-31T23:00:00-02:00'],
    ] as const)
      await expect(
        usage.usage(me, { by: [], from: new Date(moment), to: new Date(moment) }),
      ).rejects.toMatchObject({ code: 'BAD_USER_INPUT', field });
  });
});
