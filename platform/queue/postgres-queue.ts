import { CompiledQuery } from 'kysely';
import type { Pool } from 'pg';

import type { Database } from '../database/database.ts';
import { onceThere } from '../database/once-there.ts';
import { AppError } from '../errors.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { Logger } from '../process/logger.ts';
import { findPgBossJobs, OPEN_PG_BOSS_JOBS } from './pg-boss-jobs.ts';
import type { AnyTransaction, NewJob, Queue, QueueOptions } from './queue.ts';
import { createWaitingJobs, enqueueStatement } from './waiting-jobs.ts';
import { createWorkers, FREED_TOPIC, TOPIC } from './workers.ts';

/** The queue over its tables, which the migrations of `queue` make. */
export interface CreateQueueOptions {
  readonly database: Database;
  readonly bus: EventBus;
  readonly logger: Logger;
}

/** Makes the queue as soon as the database is there; it works nothing yet. */
export async function createQueue({ database, bus, logger }: CreateQueueOptions): Promise<Queue> {
  const { pool } = database;
  const whenThere = <Answer>(work: () => Promise<Answer>) => onceThere(work, { logger });
  const pgBoss = await whenThere(() => findPgBossJobs(pool));
  await whenThere(async () => pgBoss?.move());
  const definitions = createDefinitions(pool);
  await whenThere(() => definitions.load());
  const waiting = createWaitingJobs(pool, pgBoss === null ? null : OPEN_PG_BOSS_JOBS);
  const workers = createWorkers({ pool, waiting, pgBoss, bus, logger });
  return {
    // Queues are declared while a process starts, which waits for its database.
    define: (names, options) => whenThere(() => definitions.define([names].flat(), options)),
    isDefined: (name) => definitions.areDefined([name]),
    enqueue: (transaction, ...jobs) => enqueue(definitions, transaction, jobs),
    async enqueueing(...jobs) {
      await requireQueues(definitions, jobs);
      return enqueueStatement(jobs);
    },
    withoutJob: (name, data) => waiting.withoutJob(name, data),
    wake: (name) => bus.publish(TOPIC, name, Date.now()),
    freed: (name) => bus.publish(FREED_TOPIC, name, Date.now()),
    work: async (name, options, handler) => workers.work(name, options, handler),
    stop: (graceSeconds) => workers.stop(graceSeconds),
  };
}

async function enqueue(
  definitions: Definitions,
  transaction: AnyTransaction,
  jobs: readonly NewJob[],
): Promise<void> {
  if (jobs.length === 0) return;
  const reader: Reader = async <Row extends object>(text: string) =>
    (await transaction.executeQuery<Row>(CompiledQuery.raw(text))).rows;
  await requireQueues(definitions, jobs, reader);
  const statement = enqueueStatement(jobs);
  await transaction.executeQuery(CompiledQuery.raw(statement.text, [statement.jobs]));
}

/** Nobody would ever work the job of a queue that nobody declares. */
async function requireQueues(
  definitions: Definitions,
  jobs: readonly NewJob[],
  reader?: Reader,
): Promise<void> {
  const names = [...new Set(jobs.map(({ queue }) => queue))];
  if (await definitions.areDefined(names, reader)) return;
  throw new AppError('INTERNAL', `a job for a queue that no process has declared: ${names.join(', ')}`);
}

/** What runs a statement: the pool, or the connection of a transaction, which must not wait for another one. */
type Reader = <Row extends object>(text: string) => Promise<readonly Row[]>;

interface QueueRow {
  readonly name: string;
  readonly limit: number;
  readonly delay: number;
  readonly max: number;
}

const READ = `select name, retry_limit as "limit", retry_delay as "delay", retry_delay_max as "max" from queue.queues`;

const WRITE = `
  insert into queue.queues as queue (name, retry_limit, retry_delay, retry_delay_max) select unnest($1::text[]), $2, $3, $4
  on conflict (name) do update
    set retry_limit = excluded.retry_limit, retry_delay = excluded.retry_delay, retry_delay_max = excluded.retry_delay_max`;

/** The queues that some process has declared, written only when their options are not those in the database. */
function createDefinitions(pool: Pool) {
  const known = new Map<string, string>();
  const overPool: Reader = async <Row extends object>(text: string) => (await pool.query<Row>(text)).rows;

  async function read(reader: Reader): Promise<void> {
    for (const { name, limit, delay, max } of await reader<QueueRow>(READ))
      known.set(name, JSON.stringify([limit, delay, max]));
  }
  return {
    /** Reads what is declared; it is not read again until something is missing. */
    load: () => read(overPool),
    async define(names: readonly string[], settings: QueueOptions = {}) {
      const { retryLimit = 5, retryDelaySeconds = 1, retryDelayMaxSeconds = 300 } = settings;
      const options = [retryLimit, retryDelaySeconds, retryDelayMaxSeconds];
      const written = JSON.stringify(options);
      const changed = [...new Set(names)].filter((name) => known.get(name) !== written);
      if (changed.length === 0) return;
      // In the same order in every process: two that start at once can not deadlock.
      await pool.query(WRITE, [changed.toSorted(), ...options]);
      for (const name of changed) known.set(name, written);
    },
    /** Whether these are all declared; reads them again where it knows of one that is not. */
    async areDefined(names: readonly string[], reader: Reader = overPool) {
      const areKnown = () => names.every((name) => known.has(name));
      if (!areKnown()) await read(reader);
      return areKnown();
    },
  };
}

type Definitions = ReturnType<typeof createDefinitions>;
