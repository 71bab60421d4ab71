import { sql } from 'kysely';
import { expect, it } from 'vitest';

import { acquireReusedDatabase } from './reused-database.ts';

const USED = `insert into audit.entries (caller, what, target, trace_id) values ('ann', 'refund', 'it', 'x') returning id::integer`;

async function acquire() {
  const { database, ...rest } = await acquireReusedDatabase();
  const { rows } = await database.pool.query<{ name: string; pid: number }>(
    'select current_database() as name, pg_backend_pid() as pid',
  );
  return { ...rest, database, ...rows[0] };
}

it('is acquired again without rows, with its first numbers and its open connection', async () => {
  const first = await acquire();
  expect((await first.database.pool.query(USED)).rows).toEqual([{ id: 1 }]);
  await first.release();
  const second = await acquire();
  expect(second).toMatchObject({ name: first.name, pid: first.pid });
  expect((await second.database.pool.query(USED)).rows).toEqual([{ id: 1 }]);
  await second.release();
});

const CHANGE_SETTING = `do $$ begin execute format('alter database %I set work_mem = ''8MB''', current_database()); end $$`;

it('is acquired again although a setting of another database has changed meanwhile', async () => {
  const [first, other] = [await acquire(), await acquire()];
  await other.database.pool.query(CHANGE_SETTING);
  await first.release();
  const second = await acquire();
  expect(second.name).toBe(first.name);
  await Promise.all([second.release(), other.release()]);
});

it('throws once it is released', async () => {
  const { database, release } = await acquire();
  const typed = database.typed();
  await release();
  await expect(database.pool.query('select')).rejects.toThrow('has released its database');
  await expect(database.pool.connect()).rejects.toThrow('has released its database');
  await expect(sql`select`.execute(typed)).rejects.toThrow('has released its database');
});

it.each([
  ['a table was changed', 'alter table media.tasks add column fox text'],
  [
    'a trigger is new',
    'create trigger fox before update on media.tasks execute function suppress_redundant_updates_trigger()',
  ],
  ['an index is gone', 'drop index media.tasks_ended'],
  ['a transaction was left open', 'begin'],
  ['a lock is held', 'select pg_advisory_lock(1)'],
  ['a setting of it was changed', CHANGE_SETTING],
])('is dropped when %s', async (_what, statement) => {
  const changed = await acquire();
  await changed.database.pool.query(statement);
  await changed.release();
  const next = await acquire();
  expect(next.name).not.toBe(changed.name);
  await next.release();
});
