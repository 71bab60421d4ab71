import { afterAll, beforeAll, expect, it } from 'vitest';

import { testDatabase, type TestDatabase } from '../../test/kit/database/postgres.ts';
import { silentLogger } from '../process/logger.ts';
import { withAdvisoryLock } from './advisory-lock.ts';
import { createDatabase, type Database } from './database.ts';

/** Two processes, as far as the database can tell. */
let home: TestDatabase;
let one: Database;
let other: Database;
beforeAll(async () => {
  home = await testDatabase();
  const open = (applicationName: string) =>
    createDatabase({ config: home.config, maxConnections: 2, applicationName, logger: silentLogger() });
  [one, other] = [open('one'), open('other')];
});
afterAll(async () => {
  await Promise.all([one.close(), other.close()]);
  await home.drop();
});

const work = 'test.sweep';
const nothing = async (): Promise<void> => undefined;

/** Begins work that lasts until it is told to end. */
async function hold(database: Database) {
  const begun = Promise.withResolvers<void>();
  const { promise, resolve: end } = Promise.withResolvers<void>();
  const held = withAdvisoryLock(database.typed(), work, async () => {
    begun.resolve();
    await promise;
  });
  await Promise.race([begun.promise, held]);
  return { held, end };
}

it('is done by one at a time, in this process and in others, and by anybody afterwards', async () => {
  const { held, end } = await hold(one);
  const others = [one, other].map((database) => withAdvisoryLock(database.typed(), work, nothing));
  expect(await Promise.all(others)).toEqual([false, false]);
  expect(await withAdvisoryLock(other.typed(), 'test.another', nothing)).toBe(true);
  end();
  expect(await held).toBe(true);
  expect(await withAdvisoryLock(other.typed(), work, nothing)).toBe(true);
});

it('is free again after work that failed', async () => {
  const failing = () => Promise.reject(new Error('no'));
  await expect(withAdvisoryLock(one.typed(), work, failing)).rejects.toThrow('no');
  expect(await withAdvisoryLock(other.typed(), work, nothing)).toBe(true);
});

it('is taken over from one that died in the middle', async () => {
  const { held, end } = await hold(one);
  await other.pool.query(
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity
     where application_name = 'one' and datname = current_database()`,
  );
  expect(await withAdvisoryLock(other.typed(), work, nothing)).toBe(true);
  end();
  await expect(held).rejects.toThrow(/connection|terminat/i);
});
