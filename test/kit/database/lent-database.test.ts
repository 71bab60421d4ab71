import { sql } from 'kysely';
import { expect, it } from 'vitest';

import { lendDatabase } from './lent-database.ts';

const USED = `insert into audit.entries (caller, what, target, trace_id) values ('ann', 'refund', 'it', 'x') returning id::integer`;

async function lent() {
  const { database, ...rest } = await lendDatabase();
  const { rows } = await database.pool.query<{ name: string; pid: number }>(
    'select current_database() as name, pg_backend_pid() as pid',
  );
  return { ...rest, database, ...rows[0] };
}

it('is lent again without rows, with its first numbers and its open connection', async () => {
  const first = await lent();
  expect((await first.database.pool.query(USED)).rows).toEqual([{ id: 1 }]);
  await first.giveBack();
  const second = await lent();
  expect(second).toMatchObject({ name: first.name, pid: first.pid });
  expect((await second.database.pool.query(USED)).rows).toEqual([{ id: 1 }]);
  await second.giveBack();
});

it('answers nothing once it is given back', async () => {
  const { database, giveBack } = await lent();
  const typed = database.typed();
  await giveBack();
  await expect(database.pool.query('select')).rejects.toThrow('the test is over');
  await expect(database.pool.connect()).rejects.toThrow('the test is over');
  await expect(sql`select`.execute(typed)).rejects.toThrow('the test is over');
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
])('is removed when %s', async (_what, statement) => {
  const changed = await lent();
  await changed.database.pool.query(statement);
  await changed.giveBack();
  const next = await lent();
  expect(next.name).not.toBe(changed.name);
  await next.giveBack();
});
