import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { type TestDatabase, testDatabase } from '../../../test/kit/database/postgres.ts';
import { createDatabase, type Database } from '../../database/database.ts';
import { silentLogger } from '../../process/logger.ts';
import type { EventBus } from '../event-bus.ts';
import { createEventBus } from './postgres-event-bus.ts';

const logger = silentLogger();
const WAIT = { timeout: 20_000 };
let home: TestDatabase;
const open: { database: Database; bus: EventBus }[] = [];

beforeAll(async () => {
  home = await testDatabase();
});
afterAll(async () => {
  for (const { bus, database } of open) {
    await bus.close();
    await database.close();
  }
  await home.drop();
});

/** A bus as another process would have it: its own pool and listening connection. */
async function join(name = 'member', channel = name): Promise<{ database: Database; bus: EventBus }> {
  const database = createDatabase({ config: home.config, maxConnections: 2, applicationName: name, logger });
  const member = { database, bus: await createEventBus({ database, logger, channel }) };
  open.push(member);
  return member;
}

test('wakes listeners of the topic in this process at once, and in others soon', async () => {
  const [here, there] = [await join('basic'), await join('basic')];
  const heardHere: unknown[] = [];
  const heardThere: unknown[] = [];
  here.bus.listen('task', (...wakeUp) => heardHere.push(wakeUp));
  there.bus.listen('task', (...wakeUp) => heardThere.push(wakeUp));
  there.bus.listen('other', () => heardThere.push('wrong topic'));
  here.bus.publish('task', 'a', 1);
  expect(heardHere).toEqual([['a', 1]]);
  await expect.poll(() => heardThere, WAIT).toEqual([['a', 1]]);
  // Its own notification comes back to the sender too; by the time a second one was heard it would have been heard.
  there.bus.publish('task', 'b', 1);
  await expect
    .poll(() => heardHere, WAIT)
    .toEqual([
      ['a', 1],
      ['b', 1],
    ]);
});

test('sends the latest version of a key that changes many times', async () => {
  const [here, there] = [await join('latest'), await join('latest')];
  const heard: number[] = [];
  there.bus.listen('task', (_key, version) => heard.push(version));
  for (let version = 1; version <= 500; version += 1) here.bus.publish('task', 'a', version);
  await expect.poll(() => heard.at(-1), WAIT).toBe(500);
  expect(heard.length).toBeLessThan(100);
});

test('delivers thousands of keys', async () => {
  const [here, there] = [await join('many'), await join('many')];
  const heard = new Set<string>();
  there.bus.listen('task', (key) => heard.add(key));
  for (let number = 0; number < 5000; number += 1) here.bus.publish('task', `key-${number}`, 1);
  await expect.poll(() => heard.size, WAIT).toBe(5000);
});

test('says that there was a gap when the listening connection was lost, and hears again', async () => {
  const [here, there] = [await join('cut'), await join('cut')];
  const heard: string[] = [];
  const gap = vi.fn<() => void>();
  there.bus.listen('task', (key) => heard.push(key));
  there.bus.onGap(gap);
  const { rowCount } = await here.database.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'cut' and query like 'listen %'`,
  );
  expect(rowCount).toBe(2);
  await expect.poll(() => gap.mock.calls.length, WAIT).toBe(1);
  here.bus.publish('task', 'after', 1);
  await expect.poll(() => heard, WAIT).toEqual(['after']);
});

test('keeps what it cannot send until the database takes it', async () => {
  const there = await join('kept');
  const database = createDatabase({
    config: home.config,
    maxConnections: 1,
    applicationName: 'kept-sender',
    logger,
  });
  const bus = await createEventBus({ database, logger, channel: 'kept' });
  open.push({ database, bus });
  const heard: unknown[] = [];
  there.bus.listen('task', (...wakeUp) => heard.push(wakeUp));
  const client = await database.pool.connect();
  client.on('error', () => undefined);
  const failing = vi.spyOn(database.pool, 'query').mockRejectedValue(new Error('no connection'));
  bus.publish('task', 'a', 1);
  await expect.poll(() => failing.mock.calls.length, WAIT).toBeGreaterThan(1);
  bus.publish('task', 'a', 2);
  failing.mockRestore();
  client.release();
  await expect.poll(() => heard, WAIT).toEqual([['a', 2]]);
});

test('sends what waits before it closes', async () => {
  const there = await join('last');
  const here = await join('last');
  const heard: string[] = [];
  there.bus.listen('task', (key) => heard.push(key));
  here.bus.publish('task', 'last words', 1);
  await here.bus.close();
  await expect.poll(() => heard, WAIT).toEqual(['last words']);
});

test('counts its listeners, down to none', async () => {
  const { bus } = await join('counted');
  const listener = () => undefined;
  const remove = [bus.listen('task', listener), bus.listen('task', listener), bus.listen('other', listener)];
  expect(bus.listenerCount()).toBe(3);
  for (const each of remove) {
    each();
    each();
  }
  expect(bus.listenerCount()).toBe(0);
});

test('goes on when one listener throws, and when a stranger notifies', async () => {
  const [here, there] = [await join('robust'), await join('robust')];
  const heard: string[] = [];
  there.bus.listen('task', () => {
    throw new Error('mistake');
  });
  there.bus.listen('task', (key) => heard.push(key));
  await here.database.pool.query(`select pg_notify('robust', 'not ours')`);
  here.bus.publish('task', 'a', 1);
  await expect.poll(() => heard, WAIT).toEqual(['a']);
});

test('leaves no connection behind when it is closed', async () => {
  const gone = await join('gone');
  await gone.bus.close();
  await gone.database.close();
  const [probe] = open;
  const connections = async () => {
    const result = await probe?.database.pool.query(
      `select from pg_stat_activity where application_name = 'gone'`,
    );
    return result?.rowCount;
  };
  await expect.poll(connections, WAIT).toBe(0);
});
