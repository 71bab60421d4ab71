import { afterAll, beforeAll, expect, test } from 'vitest';

import { migratedDatabase } from '../../test/kit/database/migrated.ts';
import type { TestDatabase } from '../../test/kit/database/postgres.ts';
import { anonymousCaller } from '../access/caller.ts';
import { createDatabase, type Database } from '../database/database.ts';
import type { LateReads } from '../database/late-reads.ts';
import { silentLogger } from '../process/logger.ts';
import { createAuditLog } from './audit-log.ts';

let source: TestDatabase;
let database: Database;
beforeAll(async () => {
  source = await migratedDatabase();
  const logger = silentLogger();
  database = createDatabase({ config: source.config, maxConnections: 2, applicationName: 'test', logger });
});
afterAll(async () => {
  await database?.close();
  await source?.drop();
});

test('lists entries newest first, page by page, also past the tenth', async () => {
  const audit = createAuditLog({ database, retentionDays: 0, logger: silentLogger() });
  const caller = anonymousCaller('trace', '127.0.0.1');
  for (let number = 1; number <= 12; number += 1)
    await audit.record(caller, { what: number % 2 === 0 ? 'even' : 'odd', target: String(number) });
  const none = { before: null, caller: null, what: null };
  const targets = async (filter: Partial<Parameters<typeof audit.list>[0]>) =>
    (await audit.list({ first: 5, ...none, ...filter })).map(({ target }) => target);
  expect(await targets({})).toEqual(['12', '11', '10', '9', '8']);
  const last = (await audit.list({ first: 5, ...none })).at(-1)?.id ?? null;
  expect(await targets({ before: last })).toEqual(['7', '6', '5', '4', '3']);
  expect(await targets({ what: 'even', caller: 'anon', first: 3 })).toEqual(['12', '10', '8']);
  await audit.record(caller, { what: 'read task', target: '13' });
  expect(await targets({ first: 1 })).toEqual(['13']);
  expect(await targets({ first: 1, reads: false })).toEqual(['12']);
});

test('writes long targets shortened and none as null, and logs what could not be written', async () => {
  const lines: unknown[] = [];
  const error = (fields: object | string, line?: string) => void lines.push([fields, line]);
  const audit = createAuditLog({ database, retentionDays: 0, logger: { ...silentLogger(), error } });
  const caller = anonymousCaller('trace-2', null);
  await audit.record(caller, { what: 'long', target: 'x'.repeat(300) });
  await audit.record(caller, { what: 'none', target: null });
  const [none, long] = await audit.list({ first: 2, before: null, caller: null, what: null });
  expect(none).toMatchObject({
    what: 'none',
    target: null,
    address: null,
    caller: 'anon',
    traceId: 'trace-2',
  });
  expect(long?.target).toBe('x'.repeat(200));
  expect(lines).toEqual([]);
  await audit.record(caller, { what: 'a\0', target: null });
  expect(lines).toMatchObject([
    [{ caller: 'anon', what: 'a\0', traceId: 'trace-2' }, 'an audit entry was not written'],
  ]);
});

test('is read where late reads are, and loses what is older than it is kept, so many at a time', async () => {
  const asked: unknown[] = [];
  const lateReads = {
    read: async <Answer>(work: (at: Database) => Promise<Answer>) => (asked.push(1), work(database)),
  } as Partial<LateReads> as LateReads;
  const open = (retentionDays: number) =>
    createAuditLog({ database, lateReads, retentionDays, logger: silentLogger() });
  await database.pool.query(
    `insert into audit.entries (at, caller, what, trace_id) select now() - make_interval(days => days), 'old', 'x', ''
     from unnest(array[40, 31, 29]) as days`,
  );
  const count = async () =>
    (await open(0).list({ first: 9, before: null, caller: 'old', what: null })).length;
  await open(0).prune(9);
  expect(await count()).toBe(3);
  await open(30).prune(1);
  expect(await count()).toBe(2);
  await open(30).prune(9);
  expect(await count()).toBe(1);
  expect(asked).toHaveLength(3);
});
