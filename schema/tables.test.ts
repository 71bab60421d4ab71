import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createDatabase, type Database } from '../platform/database/database.ts';
import { migrate } from '../platform/database/migrations.ts';
import { silentLogger } from '../platform/process/logger.ts';
import { testDatabase, type TestDatabase } from '../test/kit/database/postgres.ts';
import { generateTables, tableTypes } from './tables.ts';

let home: TestDatabase;
let database: Database;

beforeAll(async () => {
  const logger = silentLogger();
  home = await testDatabase();
  database = createDatabase({ config: home.config, maxConnections: 3, applicationName: 'test', logger });
  await migrate({ database, sets: tableTypes, logger });
});
afterAll(async () => {
  await database?.close();
  await home?.drop();
});

describe('the table types', () => {
  it.each(tableTypes)('$file is what the migrations make of the database', async (types) => {
    const checkedIn = await readFile(path.join(import.meta.dirname, '..', types.file), 'utf8');
    expect(await generateTables(database.typed(), types)).toBe(checkedIn);
  });
});
