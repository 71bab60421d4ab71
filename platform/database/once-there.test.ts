import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

import { Client } from 'pg';
import { expect, it } from 'vitest';

import { testDatabase } from '../../test/kit/database/postgres.ts';
import { createLogger } from '../process/logger.ts';
import { onceThere } from './once-there.ts';

it('waits for a database that refuses connections, says so once, and works when it is there', async () => {
  const database = await testDatabase();
  const port = await portOfNobody();
  const lines: string[] = [];
  const logger = createLogger({ level: 'info', destination: { write: (line) => void lines.push(line) } });
  let tries = 0;
  const answer = await onceThere(
    async () => {
      tries += 1;
      const there = tries > 2 ? database.config : { host: '127.0.0.1', port };
      return countWith(new Client(there));
    },
    { logger },
  );
  expect(answer).toBe(1);
  expect(tries).toBe(3);
  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
    'the database is away: the start waits for it',
  ]);
  await database.drop();
});

it('gives up when its patience ends, and at once when waiting does not help', async () => {
  const logger = createLogger({ level: 'silent' });
  const port = await portOfNobody();
  const away = onceThere(() => countWith(new Client({ host: '127.0.0.1', port })), {
    logger,
    patienceMs: -1,
  });
  await expect(away).rejects.toThrow('ECONNREFUSED');
  const database = await testDatabase();
  const missing = new Client({ ...database.config, database: 'nowhere' });
  await expect(onceThere(() => countWith(missing), { logger })).rejects.toThrow('does not exist');
  await database.drop();
});

async function countWith(client: Client): Promise<number | null> {
  await client.connect();
  try {
    return (await client.query('select 1')).rowCount;
  } finally {
    await client.end();
  }
}

async function portOfNobody(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
