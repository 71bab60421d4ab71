import { Client, type PoolConfig } from 'pg';
import { afterAll, expect, test } from 'vitest';

import { type TestDatabase, testDatabase } from './postgres.ts';

const made: TestDatabase[] = [];
afterAll(async () => {
  for (const database of made) await database.drop();
});

async function query(config: PoolConfig | { connectionString: string }, text: string): Promise<unknown[]> {
  const client = new Client(config);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

test('gives each caller a database of its own, also when many ask at once', async () => {
  made.push(...(await Promise.all(Array.from({ length: 5 }, () => testDatabase()))));
  const names = new Set(made.map(({ config }) => config.database));
  expect(names.size).toBe(5);
  await query(made[0]!.config, 'create table only_here (id int)');
  await expect(query(made[1]!.config, 'select * from only_here')).rejects.toThrow('does not exist');
});

test('can be reached by its address alone', async () => {
  const database = await testDatabase();
  made.push(database);
  const rows = await query(
    { connectionString: database.connectionString },
    'select current_database() as name',
  );
  expect(rows).toEqual([{ name: database.config.database }]);
});

test('copies a template that is prepared once', async () => {
  let prepared = 0;
  const template = {
    name: 'kit_test',
    prepare: async (config: PoolConfig) => {
      prepared += 1;
      await query(config, 'create table prepared as select 7 as number');
    },
  };
  const copies = await Promise.all([testDatabase({ template }), testDatabase({ template })]);
  made.push(...copies);
  expect(prepared).toBe(1);
  for (const { config } of copies) {
    expect(await query(config, 'select number from prepared')).toEqual([{ number: 7 }]);
  }
});

test('removes a database that is still in use', async () => {
  const database = await testDatabase();
  const client = new Client(database.config);
  const broken = new Promise((resolve) => {
    client.on('error', resolve);
  });
  await client.connect();
  await database.drop();
  await broken;
  await expect(query(database.config, 'select 1')).rejects.toThrow('does not exist');
});
