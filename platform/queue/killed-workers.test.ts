import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { migratedDatabase } from '../../test/kit/database/migrated.ts';
import type { TestDatabase } from '../../test/kit/database/postgres.ts';
import { createDatabase, type Database } from '../database/database.ts';
import type { EventBus } from '../events/event-bus.ts';
import { createEventBus } from '../events/postgres/postgres-event-bus.ts';
import { newId } from '../ids.ts';
import { silentLogger } from '../process/logger.ts';
import { createQueue } from './postgres-queue.ts';
import type { Queue } from './queue.ts';

/** Workers of a queue as processes of their own, which are killed and paused; postgres-queue.test.ts has all else. */

const WAIT = { timeout: 100_000, interval: 50 };

let home: TestDatabase;
let database: Database;
let bus: EventBus;
let queue: Queue;
const children: ChildProcess[] = [];

beforeAll(async () => {
  home = await migratedDatabase();
  const logger = silentLogger();
  database = createDatabase({ config: home.config, maxConnections: 4, applicationName: 'main', logger });
  bus = await createEventBus({ database, logger });
  queue = await createQueue({ database, bus, logger });
  await database.pool.query('create table released (id uuid primary key)');
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await queue?.stop(0);
  await bus?.close();
  await database?.close();
  await home?.drop();
});

async function enqueue(name: string): Promise<string> {
  const id = newId();
  await queue.define(name);
  await database
    .typed()
    .transaction()
    .execute((transaction) => queue.enqueue(transaction, { queue: name, id, data: null }));
  queue.wake(name);
  return id;
}

async function readState(id: string): Promise<string | undefined> {
  const { rows } = await database.pool.query<{ state: string }>(
    'select state from queue.jobs where id = $1',
    [id],
  );
  return rows[0]?.state;
}

/** A worker in a process of its own; resolves with the process and the lines it prints. */
async function spawnWorker(name: string): Promise<{ child: ChildProcess; lines: string[] }> {
  const program = fileURLToPath(new URL('../../test/kit/processes/queue-process.ts', import.meta.url));
  const child = spawn(process.execPath, [program, home.connectionString, name], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  await expect.poll(() => lines, WAIT).toContain('ready');
  return { child, lines };
}

test.concurrent('a job of a worker that was killed is taken over', async ({ expect }) => {
  const { child, lines } = await spawnWorker('killed');
  const id = await enqueue('killed');
  await expect.poll(() => lines, WAIT).toContain(`took ${id}`);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const tries: number[] = [];
  await queue.work('killed', { slots: 1 }, async ({ retryCount }) => void tries.push(retryCount));
  await expect.poll(() => readState(id), WAIT).toBe('completed');
  expect(tries).toEqual([1]);
});

test.concurrent('a worker that was paused too long changes nothing of its job when it goes on', async ({
  expect,
}) => {
  const { child, lines } = await spawnWorker('paused');
  const id = await enqueue('paused');
  await expect.poll(() => lines, WAIT).toContain(`took ${id}`);
  child.kill('SIGSTOP');
  const { promise: finish, resolve: end } = Promise.withResolvers<void>();
  const tries: number[] = [];
  const worker = await queue.work('paused', { slots: 1 }, async ({ retryCount }) => {
    tries.push(retryCount);
    await finish;
  });
  await expect.poll(() => tries, WAIT).toEqual([1]);
  // The other one goes on and answers, as its handler sees the row; its job is not its own any more.
  await database.pool.query('insert into released values ($1)', [id]);
  child.kill('SIGCONT');
  const probe = await enqueue('paused');
  await database.pool.query('insert into released values ($1)', [probe]);
  await expect.poll(() => lines, WAIT).toContain(`took ${probe}`);
  expect(await readState(id)).toBe('active');
  end();
  await worker.stop(5);
  expect(await readState(id)).toBe('completed');
});
