import { afterAll, beforeAll, expect, test } from 'vitest';

import { migratedDatabase } from '../../test/kit/database/migrated.ts';
import type { TestDatabase } from '../../test/kit/database/postgres.ts';
import { anonymousCaller } from '../access/caller.ts';
import { createDatabase, type Database } from '../database/database.ts';
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
