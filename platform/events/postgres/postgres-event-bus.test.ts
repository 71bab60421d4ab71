import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';

import { type TestDatabase, testDatabase } from '../../../test/kit/database/postgres.ts';
import { startRelay } from '../../../test/kit/database/relay.ts';
import { createDatabase, type Database } from '../../database/database.ts';
import { silentLogger } from '../../process/logger.ts';
import { eventBusContract } from '../event-bus.contract.ts';
import type { EventBus } from '../event-bus.ts';
import { createEventBus } from './postgres-event-bus.ts';

const logger = silentLogger();
const WAIT = { timeout: 100_000 };
let home: TestDatabase;
const open: { database: Database; bus: EventBus }[] = [];

beforeAll(async () => {
  home = await testDatabase();
});
afterAll(() => home.drop());
afterEach(async () => {
  vi.useRealTimers();
  for (const { bus, database } of open.splice(0)) {
    await bus.close();
    await database.close();
  }
});

/** A bus as another process would have it: its own pool and listening connection. */
async function join(name: string): Promise<{ database: Database; bus: EventBus }> {
  const database = createDatabase({ config: home.config, maxConnections: 2, applicationName: name, logger });
  const member = { database, bus: await createEventBus({ database, logger, channel: name }) };
  open.push(member);
  return member;
}

async function ask(query: string, values: readonly string[]) {
  const { database } = await join('asking');
  return database.pool.query(query, [...values]);
}

eventBusContract({
  join: async (name) => (await join(name)).bus,
  async cut(name) {
    const { rowCount } = await ask(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1 and query like 'listen %'`,
      [name],
    );
    return rowCount ?? 0;
  },
  disturb: async (name) => void (await ask('select pg_notify($1, $2)', [name, 'not ours'])),
});

test('keeps what it cannot send until the database takes it', async () => {
  const there = await join('kept');
  const { database, bus } = await join('kept');
  const heard: unknown[] = [];
  there.bus.listen('task', (...wakeUp) => heard.push(wakeUp));
  const failing = vi.spyOn(database.pool, 'query').mockRejectedValue(new Error('no connection'));
  bus.publish('task', 'a', 1);
  await expect.poll(() => failing.mock.calls.length, WAIT).toBeGreaterThan(1);
  bus.publish('task', 'a', 2);
  failing.mockRestore();
  await expect.poll(() => heard, WAIT).toEqual([['a', 2]]);
});

test('leaves no connection behind when it is closed', async () => {
  const gone = await join('gone');
  await gone.bus.close();
  await gone.database.close();
  const { database } = await join('asking');
  const connections = async () => {
    const result = await database.pool.query(`select from pg_stat_activity where application_name = 'gone'`);
    return result.rowCount;
  };
  await expect.poll(connections, WAIT).toBe(0);
});

/** More than the longest pause before it connects again. */
const RETRIED_WITHIN_MS = 10_000;

const fakeTimers = () =>
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });

test('listens on another connection when the one that listens gets no answer, and says that there was a gap', async () => {
  const relay = await startRelay(home);
  fakeTimers();
  const config = { connectionString: relay.url };
  const database = createDatabase({ config, maxConnections: 1, applicationName: 'unanswered', logger });
  const bus = await createEventBus({ database, logger });
  const gap = vi.fn<() => void>();
  bus.onGap(gap);
  relay.hold();
  // It is asked whether it is there, and has five seconds to say so.
  await vi.advanceTimersByTimeAsync(10_000);
  await vi.advanceTimersByTimeAsync(5_000);
  relay.release();
  await vi.waitFor(() => expect(gap).toHaveBeenCalledOnce(), WAIT);
  await bus.close();
  await database.close();
  const connections = relay.connectionCount();
  await vi.advanceTimersByTimeAsync(RETRIED_WITHIN_MS);
  expect(relay.connectionCount()).toBe(connections);
  relay.stop();
});

test('does not try again by itself when it is refused at first', async () => {
  let connections = 0;
  const refusing = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await once(refusing.listen(0, '127.0.0.1'), 'listening');
  fakeTimers();
  const { port } = refusing.address() as AddressInfo;
  const config = { connectionString: `postgresql://nobody@127.0.0.1:${port}/none` };
  const database = createDatabase({ config, maxConnections: 1, applicationName: 'refused', logger });
  await expect(createEventBus({ database, logger })).rejects.toThrow(/connection/i);
  await vi.advanceTimersByTimeAsync(RETRIED_WITHIN_MS);
  expect(connections).toBe(1);
  await database.close();
  refusing.close();
});
