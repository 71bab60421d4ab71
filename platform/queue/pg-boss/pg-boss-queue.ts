import { fromKysely, type Db, PgBoss, type UpdateQueueOptions } from 'pg-boss';

import type { Database } from '../../database/database.ts';
import { onceThere } from '../../database/once-there.ts';
import { AppError } from '../../errors.ts';
import type { EventBus } from '../../events/event-bus.ts';
import type { Logger } from '../../process/logger.ts';
import type { Loop } from '../../process/loop.ts';
import type { EnqueueStatement, NewJob, Queue, QueueOptions } from '../queue.ts';
import { createJobTable, SCHEMA } from './job-table.ts';
import { createTicker } from './ticker.ts';
import { createTurns } from './turns.ts';
import { type SlotWorker, startSlotWorker } from './worker.ts';

/**
 * The queue on pg-boss, which stores jobs. Our own slot workers claim them, owner by owner, and run them: they drain a
 * backlog, wake up at once, and stop without losing or repeating jobs.
 */
export interface CreateQueueOptions {
  readonly database: Database;
  readonly bus: EventBus;
  readonly logger: Logger;
}

/** Seconds without a heartbeat after which a worker counts as dead; the least that pg-boss accepts. */
const HEARTBEAT_SECONDS = 10;
const DAY_SECONDS = 86_400;
const TOPIC = 'queue';
const FREED_TOPIC = 'queue-freed';

/** Does it as soon as the database is there. */
type WhenThere = <Answer>(work: () => Promise<Answer>) => Promise<Answer>;

/** Creates or updates pg-boss's tables, as soon as the database is there, and starts its maintenance. */
export async function createQueue({ database, bus, logger }: CreateQueueOptions): Promise<Queue> {
  const whenThere: WhenThere = (work) => onceThere(work, { logger });
  const boss = await whenThere(() => startBoss(database, logger));
  const table = createJobTable(database.pool);
  await whenThere(() => table.prepare());
  const workers = new Map<string, SlotWorker>();
  const definitions = await createDefinitions(boss, whenThere);
  const polls = new Map<string, number>();
  const pauseMs = () => Math.min(1000, ...polls.values());
  const ticker = createTicker({ workers, table, logger, pauseMs });
  const stopListening: (() => void)[] = [];

  function listen(): void {
    if (stopListening.length > 0) return;
    const wakeAll = () => workers.forEach((worker) => worker.wake());
    stopListening.push(
      bus.listen(TOPIC, (name) => workers.get(name)?.wake()),
      bus.listen(FREED_TOPIC, (name) => workers.get(name)?.freed()),
      bus.onGap(wakeAll),
    );
  }

  return {
    ...definitions,
    enqueue: (transaction, ...jobs) => enqueue(boss, fromKysely(transaction), jobs),
    enqueueing: (...jobs) => enqueueing(boss, jobs),
    withoutJob: (name, data) => table.withoutJob(name, data),
    wake: (name) => bus.publish(TOPIC, name, Date.now()),
    freed: (name) => bus.publish(FREED_TOPIC, name, Date.now()),
    async work(name, options, handler) {
      if (workers.has(name)) throw new AppError('INTERNAL', `queue ${name} has a handler already`);
      const wake = () => bus.publish(TOPIC, name, Date.now());
      const fetch = createTurns(database.pool, name);
      const worker = startSlotWorker({
        queue: name,
        options,
        handler,
        table,
        fetch,
        logger,
        onReleased: wake,
      });
      workers.set(name, worker);
      polls.set(name, Math.max(options.pollMs ?? 1000, 50));
      listen();
      ticker.start();
      return {
        wake: () => worker.wake(),
        hasten: () => worker.hasten(),
        async stop(graceSeconds) {
          await worker.stop(graceSeconds);
          workers.delete(name);
          polls.delete(name);
        },
      };
    },
    stop: (graceSeconds) => stopAll({ boss, ticker, workers, stopListening, graceSeconds }),
  };
}

/** Starts pg-boss over our pool, without its own workers and schedules. */
async function startBoss({ pool }: Database, logger: Logger): Promise<PgBoss> {
  const db: Db = { executeSql: (text, values) => pool.query(text, values) };
  const boss = new PgBoss({
    db,
    schema: SCHEMA,
    schedule: false,
    // Deletes jobs that ended a day ago, and expires those that ran for hours; each time it also counts the whole job table
    // for its statistics. Dead workers are found by our own ticker.
    superviseIntervalSeconds: 600,
    monitorIntervalSeconds: 600,
    maintenanceIntervalSeconds: 600,
    // Dependencies between jobs, which we do not use.
    flowIntervalSeconds: 3600,
  });
  boss.on('error', (error) => logger.warn({ error }, 'pg-boss'));
  boss.on('warning', ({ message, data }) => logger.warn({ data }, message));
  return boss.start();
}

type QueueSettings = ReturnType<typeof settingsOf>;

function settingsOf(options: QueueOptions) {
  return {
    retryLimit: options.retryLimit ?? 5,
    retryDelay: Math.ceil(options.retryDelaySeconds ?? 1),
    retryDelayMax: Math.ceil(options.retryDelayMaxSeconds ?? 300),
    retryBackoff: true,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    // A backstop for handlers that hang in a live process.
    expireInSeconds: DAY_SECONDS / 2,
    // A job that is never claimed must not be deleted silently.
    retentionSeconds: 365 * DAY_SECONDS,
    deleteAfterSeconds: DAY_SECONDS,
  } satisfies UpdateQueueOptions;
}

/** Declares queues, each only when its settings are not those in the database: several parts declare the same ones. */
async function createDefinitions(boss: PgBoss, whenThere: WhenThere) {
  const defined = await whenThere(() => readSettings(boss));
  return {
    async define(name: string, options: QueueOptions = {}): Promise<void> {
      const settings = settingsOf(options);
      const written = JSON.stringify(settings);
      if (defined.get(name) === written) return;
      // Queues are declared while a process starts, which waits for its database.
      await whenThere(() => define(boss, name, settings));
      defined.set(name, written);
    },
    async isDefined(name: string): Promise<boolean> {
      if (!defined.has(name)) {
        for (const [queue, written] of await readSettings(boss)) defined.set(queue, written);
      }
      return defined.has(name);
    },
  };
}

/** The settings of every queue there is, as JSON: a start would otherwise write each of them again. */
async function readSettings(boss: PgBoss): Promise<Map<string, string>> {
  const names = Object.keys(settingsOf({})) as (keyof QueueSettings)[];
  const queues = await boss.getQueues();
  return new Map(
    queues.map((queue) => [
      queue.name,
      JSON.stringify(Object.fromEntries(names.map((name) => [name, queue[name]]))),
    ]),
  );
}

async function define(boss: PgBoss, name: string, settings: QueueSettings): Promise<void> {
  await boss.createQueue(name, settings);
  await boss.updateQueue(name, settings);
  // Makes pg-boss cache the queue now: otherwise the first enqueue would use a second connection while its transaction
  // holds one.
  await boss.findJobs(name, { id: '00000000-0000-0000-0000-000000000000' });
}

async function enqueue(boss: PgBoss, db: Db, jobs: readonly NewJob[]): Promise<void> {
  for (const [queue, ofQueue] of Map.groupBy(jobs, (job) => job.queue)) {
    const rows = ofQueue.map(({ id, data, startAfterSeconds, owner, kind }) => ({
      data: data as object,
      ...(id !== undefined && { id }),
      ...(startAfterSeconds !== undefined && { startAfter: startAfterSeconds }),
      ...(owner !== undefined && { group: { id: owner, ...(kind !== undefined && { tier: kind }) } }),
    }));
    await boss.insert(queue, rows, { db });
  }
}

/** pg-boss's own statements, recorded; null when a version of it runs others than one insert of a JSON list. */
async function enqueueing(
  boss: PgBoss,
  jobs: readonly NewJob[],
): Promise<readonly EnqueueStatement[] | null> {
  const recorded: { readonly text: string; readonly values: readonly unknown[] }[] = [];
  const recorder: Db = {
    async executeSql(text, values = []) {
      recorded.push({ text, values });
      return { rows: [] };
    },
  };
  await enqueue(boss, recorder, jobs);
  const statements: EnqueueStatement[] = [];
  for (const { text, values } of recorded) {
    const [list] = values;
    const isInsert = /^\s*insert into/i.test(text) && text.split('$').length === 2 && text.includes('$1');
    if (!isInsert || values.length !== 1 || typeof list !== 'string') return null;
    statements.push({ text, jobs: list });
  }
  return statements;
}

interface StopOptions {
  readonly boss: PgBoss;
  readonly ticker: Loop;
  readonly workers: Map<string, SlotWorker>;
  readonly stopListening: (() => void)[];
  readonly graceSeconds: number;
}

async function stopAll({ boss, ticker, workers, stopListening, graceSeconds }: StopOptions): Promise<void> {
  await ticker.stop();
  for (const stop of stopListening) stop();
  await Promise.all([...workers.values()].map((worker) => worker.stop(graceSeconds)));
  await boss.stop({ graceful: false, close: false });
}
