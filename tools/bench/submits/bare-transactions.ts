import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import { Pool, type PoolConfig } from 'pg';

import { createDatabase } from '../../../platform/database/database.ts';
import { migrate } from '../../../platform/database/migrations.ts';
import { newId } from '../../../platform/ids.ts';
import { silentLogger } from '../../../platform/process/logger.ts';
import { queueMigrations } from '../../../platform/queue/migrations.ts';
import { enqueueStatement } from '../../../platform/queue/waiting-jobs.ts';
import { mediaMigrations } from '../../../subgraphs/media/database/migrations/index.ts';
import type { DB } from '../../../subgraphs/media/database/tables.ts';
import { insertTask, type NewTask } from '../../../subgraphs/media/tasks/storage/submission-store.ts';
import type { BareOrder } from './submits.ts';

// The least that takes a task in durably: the transaction with Kiln's own inserts, through pg, without HTTP,
// rules or limits; in a database of its own, so that nobody works what it writes. The word is the connection as JSON.
const QUEUE = 'starts';
const config = JSON.parse(process.argv[2] ?? '{}') as PoolConfig;
const logger = silentLogger();

await makeDatabase();
const database = createDatabase({ config, maxConnections: 2, applicationName: 'bench', logger });
await migrate({ database, sets: [mediaMigrations, queueMigrations], logger });
await database.close();
const pool = new Pool({ ...config, max: 10 });

process.on('message', (message) => {
  const { order, amount } = message as { readonly order: BareOrder; readonly amount: number };
  void measure(order, amount).then((run) => process.send?.(run));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });

async function measure(order: BareOrder, amount: number) {
  const statement = await recordStatement(order.task);
  let left = amount;
  const startedAt = performance.now();
  const loops = Array.from({ length: order.connections }, async () => {
    while (left > 0) {
      left -= 1;
      await submit(statement, order);
    }
  });
  await Promise.all(loops);
  return { requests: amount, perSecond: (amount * 1000) / (performance.now() - startedAt) };
}

async function submit({ sql, parameters }: Statement, { task }: BareOrder): Promise<void> {
  const id = newId();
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query(
      sql,
      parameters.map((parameter) => (parameter === task.id ? id : parameter)),
    );
    const jobs = task.steps.map(({ step }) => ({ queue: QUEUE, data: { taskId: id, step } }));
    const enqueue = enqueueStatement(jobs);
    await client.query(enqueue.text, [enqueue.jobs]);
    await client.query('commit');
  } finally {
    client.release();
  }
}

interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** Kiln's own insert as text: recorded from a database that does nothing. */
async function recordStatement(task: NewTask): Promise<Statement> {
  const recorded: Statement[] = [];
  const recorder = new Kysely<DB>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (kysely) => new PostgresIntrospector(kysely),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log: ({ query }) => void recorded.push(query),
  });
  await insertTask(recorder, task);
  const [statement] = recorded;
  if (statement === undefined) throw new Error('no statement was recorded');
  return statement;
}

async function makeDatabase(): Promise<void> {
  const admin = new Pool({ ...config, database: 'postgres', max: 1 });
  await admin.query(`create database ${String(config.database)}`);
  await admin.end();
}
