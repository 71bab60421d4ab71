import { CompiledQuery } from 'kysely';

import type { Database } from '../database/database.ts';
import { onceThere } from '../database/once-there.ts';
import { AppError } from '../errors.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { Logger } from '../process/logger.ts';
import { createDefinitions, type Definitions, type Reader } from './definitions.ts';
import { findPgBossJobs, OPEN_PG_BOSS_JOBS } from './pg-boss-jobs.ts';
import type { AnyTransaction, NewJob, Queue } from './queue.ts';
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
    define: (name, options) => whenThere(() => definitions.define(name, options)),
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
