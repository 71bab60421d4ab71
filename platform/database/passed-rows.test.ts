import { afterAll, beforeAll, expect, it } from 'vitest';

import { testDatabase, type TestDatabase } from '../../test/kit/database/postgres.ts';
import { silentLogger } from '../process/logger.ts';
import { createDatabase, type Database } from './database.ts';
import { nextPassed } from './passed-rows.ts';

let home: TestDatabase;
let database: Database;
beforeAll(async () => {
  home = await testDatabase();
  database = createDatabase({
    config: home.config,
    maxConnections: 3,
    applicationName: 'walks',
    logger: silentLogger(),
  });
  await database.pool.query(`
    create table marks (what text primary key, until timestamptz not null default '-infinity', id text not null default '');
    create table things (id text primary key, ended_at timestamptz)`);
});
afterAll(async () => {
  await database.close();
  await home.drop();
});

const walk = { marks: 'marks', name: 'things', table: 'things', column: 'ended_at', days: 3, limit: 2 };
const next = (name = walk.name) =>
  database
    .typed()
    .transaction()
    .execute((transaction) => nextPassed(transaction, { ...walk, name }));

it('passes each old row once, in the order of its time, for each name', async () => {
  await database.pool.query(`
    insert into things select id, now() - make_interval(days => days)
    from (values ('b', 9), ('a', 9), ('c', 8), ('new', 2), ('never', null)) as thing(id, days)`);
  expect([await next(), await next(), await next()]).toEqual([['a', 'b'], ['c'], []]);
  await database.pool.query(`insert into things values ('late', now() - interval '4 days')`);
  expect([await next(), await next()]).toEqual([['late'], []]);
  expect(await next('others')).toEqual(['a', 'b']);
});

it('passes nothing while another process is at it, and again what that one did not commit', async () => {
  const { promise, resolve: end } = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<unknown>();
  const held = database
    .typed()
    .transaction()
    .execute(async (transaction) => {
      begun.resolve(await nextPassed(transaction, { ...walk, name: 'held' }));
      await promise;
      throw new Error('it fails');
    });
  const failed = held.catch(String);
  expect(await begun.promise).toEqual(['a', 'b']);
  // Its mark is there to be held: that of a first walk is not seen by others before it commits.
  await database.pool.query(`insert into marks (what) values ('known')`);
  const inner = await database
    .typed()
    .transaction()
    .execute(async (transaction) => {
      await nextPassed(transaction, { ...walk, name: 'known' });
      return next('known');
    });
  expect(inner).toBeNull();
  end();
  expect(await failed).toBe('Error: it fails');
  expect(await next('held')).toEqual(['a', 'b']);
});
