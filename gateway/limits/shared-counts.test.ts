import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';

import { anonymousCaller } from '../../platform/access/caller.ts';
import { createDatabase, type Database } from '../../platform/database/database.ts';
import { createLogger } from '../../platform/process/logger.ts';
import { until } from '../../test/kit/clients/requests.ts';
import { testDatabase, type TestDatabase } from '../../test/kit/database/postgres.ts';
import { createRateLimiter, type RateLimiter } from './rate-limit.ts';
import { openSharedCounts } from './shared-counts.ts';

/** Rates that several gateways count together, over a real database. */

const lines: string[] = [];
const logger = createLogger({ level: 'info', destination: { write: (line) => void lines.push(line) } });
const said = (what: string) => lines.filter((line) => line.includes(what)).length;

let home: TestDatabase;
const databases: Database[] = [];
beforeAll(async () => {
  home = await testDatabase();
});
afterAll(async () => {
  for (const database of databases) await database.close();
  await home.drop();
});

function connect(config: Parameters<typeof createDatabase>[0]['config'] = home.config): Database {
  const database = createDatabase({ config, maxConnections: 4, applicationName: 'test', logger });
  databases.push(database);
  return database;
}

/** The limiter of one more gateway; patient, as this machine may have other things to do. */
async function gateway(
  limits: Parameters<typeof createRateLimiter>[0],
  { database = connect(), timeoutMs = 20_000 } = {},
): Promise<RateLimiter> {
  return createRateLimiter(limits, { shared: await openSharedCounts({ database, logger, timeoutMs }) });
}

const caller = (address: string) => anonymousCaller('trace', address);

test('a caller has one limit over all gateways, which make the table by themselves', async () => {
  const limits = { start: 3, read: 10 };
  const [one, other] = await Promise.all([gateway(limits), gateway(limits)]);
  const [first, second] = await Promise.all(
    [one, other].map((limiter) => limiter.take(caller('192.0.2.1'), 'start')),
  );
  expect(new Set([first?.remaining, second?.remaining])).toEqual(new Set([1, 2]));
  expect(await one.take(caller('192.0.2.1'), 'start')).toMatchObject({ allowed: true, remaining: 0 });
  for (const limiter of [other, one, other]) {
    expect(await limiter.take(caller('192.0.2.1'), 'start')).toMatchObject({
      allowed: false,
      limit: 3,
      remaining: 0,
      retryAfter: expect.any(Number),
    });
  }
  // Neither other classes nor other callers are touched.
  expect(await other.take(caller('192.0.2.1'), 'read')).toMatchObject({ allowed: true, remaining: 9 });
  expect(await other.take(caller('192.0.2.2'), 'start')).toMatchObject({ allowed: true, remaining: 2 });
});

test('twenty at once through two gateways are counted one by one', async () => {
  const [one, other] = await Promise.all([gateway({ start: 12 }), gateway({ start: 12 })]);
  const take = (limiter: RateLimiter) => limiter.take(caller('192.0.2.3'), 'start');
  const verdicts = await Promise.all(Array.from({ length: 10 }, () => [take(one), take(other)]).flat());
  expect(verdicts.filter((verdict) => verdict.allowed)).toHaveLength(12);
});

test('a gateway whose database does not answer counts by itself, and together again afterwards', async () => {
  const one = await gateway({ read: 5 }, { timeoutMs: 500 });
  const other = await gateway({ read: 5 });
  const address = caller('192.0.2.4');
  await one.take(address, 'read');
  await other.take(address, 'read');
  const blocker = await connect().pool.connect();
  await blocker.query('begin; lock table gateway.rate_limits in access exclusive mode');
  // The first waits half a second, the rest no time at all.
  const alone = [];
  for (let count = 0; count < 6; count += 1) alone.push(await one.take(address, 'read'));
  expect(alone.map(({ allowed }) => allowed)).toEqual([true, true, true, true, true, false]);
  expect(said('by this process alone')).toBe(1);
  await blocker.query('rollback');
  blocker.release();
  const together = await until(
    () => one.take(caller('192.0.2.5'), 'read'),
    () => said('together again') === 1,
  );
  expect(together.allowed).toBe(true);
  const { remaining } = await other.take(caller('192.0.2.5'), 'read');
  expect(remaining).toBeLessThan(4);
});

test('a gateway that started without its database counts together with the others once it is there', async () => {
  const name = `${home.config.database}_later`;
  const [one, other] = await Promise.all(
    [1, 2].map(() => gateway({ read: 5 }, { database: connect({ ...home.config, database: name }) })),
  );
  expect(await one?.take(caller('192.0.2.7'), 'read')).toMatchObject({ remaining: 4 });
  expect(await other?.take(caller('192.0.2.7'), 'read')).toMatchObject({ remaining: 4 });
  await databases[0]?.pool.query(`create database ${name}`);
  try {
    // A moment after a failure nobody is asked.
    await until(
      async () => {
        await one?.take(caller('192.0.2.8'), 'read');
        return (await other?.take(caller('192.0.2.8'), 'read'))?.remaining ?? 5;
      },
      (remaining) => remaining < 3,
    );
  } finally {
    await Promise.all(databases.splice(-2).map((database) => database.close()));
    await databases[0]?.pool.query(`drop database ${name} with (force)`);
  }
});

test('a gateway starts, and limits, without its database', async () => {
  const database = connect({ connectionString: 'postgresql://nobody@127.0.0.1:1/none' });
  const limiter = await gateway({ start: 1 }, { database });
  expect(await limiter.take(caller('192.0.2.6'), 'start')).toMatchObject({ allowed: true, remaining: 0 });
  expect(await limiter.take(caller('192.0.2.6'), 'start')).toMatchObject({ allowed: false });
});

test('asks nobody for a second after there was no answer, and then again', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const database = connect({ connectionString: 'postgresql://nobody@127.0.0.1:1/none' });
  const counts = await openSharedCounts({ database, logger, timeoutMs: 20_000 });
  const ask = (): Promise<unknown> =>
    counts.query({ text: 'select 1' }).catch(({ message }: Error) => message.includes('a moment ago'));
  expect([await ask(), await ask()]).toEqual([true, true]);
  vi.setSystemTime(Date.now() + 1_000);
  expect([await ask(), await ask()]).toEqual([false, true]);
});
