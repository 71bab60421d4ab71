import { sql } from 'kysely';
import type { Pool } from 'pg';

import type { Json } from '../../platform/json.ts';
import type { JobHandler, Queue } from '../../platform/queue/queue.ts';
import type { ScheduledProcess } from './scheduled-process.ts';

/**
 * Jobs in a table of their own, so that the model decides when one is delivered, given up or lost. Enqueuing is part of
 * the transaction of the row, as with the real queue.
 */
export const MODEL_JOBS = `create table if not exists model_jobs (
  id bigint generated always as identity primary key, queue text not null, data jsonb not null,
  start_after timestamptz not null default now(), failures integer not null default 0)`;

/** Queue that hears of the ends of tasks that nobody has paid for; nobody works on it. */
export const ENDED = 'model.ended';

/** Most failures of a job before it is given up. */
const MAX_FAILURES = 2;

/** The queue as a process has it: it enqueues and compares, and the model delivers. */
export function createModelQueue(process: ScheduledProcess): Queue {
  return {
    define: async () => {},
    async enqueue(transaction, ...jobs) {
      for (const { queue, data, startAfterSeconds = 0 } of jobs) {
        await sql`/* jobs.enqueue */ insert into model_jobs (queue, data, start_after)
          values (${queue}, ${JSON.stringify(data)}::jsonb, now() + make_interval(secs => ${startAfterSeconds}))`.execute(
          transaction,
        );
      }
    },
    async withoutJob(name, data) {
      const { rows } = await sql<{ data: Json }>`/* jobs.without */
        select wanted.data from jsonb_array_elements(${JSON.stringify(data)}::jsonb) as wanted(data)
        where not exists (select from model_jobs where queue = ${name} and data = wanted.data)`.execute(
        process.database,
      );
      return rows.map((row) => row.data);
    },
    wake: () => {},
    work: () => Promise.reject(new Error('the model delivers')),
    stop: async () => {},
  };
}

interface ModelJob {
  readonly id: string;
  readonly queue: string;
  readonly data: Json;
  readonly failures: number;
}

/** Where jobs are, and who works on which. */
export interface DeliveryOptions {
  readonly pool: Pool;
  readonly active: Map<string, ScheduledProcess>;
}

/** Queues with a due job, but for those that only listen. */
export async function dueQueues({ pool }: DeliveryOptions): Promise<readonly string[]> {
  const { rows } = await pool.query<{ queue: string }>(
    'select distinct queue from model_jobs where queue <> $1 and start_after <= now() order by queue',
    [ENDED],
  );
  return rows.map(({ queue }) => queue);
}

/** Works on a queue, as long as there is room. */
export interface ModelWork {
  readonly queue: string;
  readonly handler: JobHandler;
  readonly capacity?: (() => Promise<number>) | undefined;
}

/** Delivers the oldest due job of a queue that nobody works on; false when there is none, or no room for it. */
export async function deliverJob(
  { pool, active }: DeliveryOptions,
  process: ScheduledProcess,
  { queue, handler, capacity }: ModelWork,
): Promise<boolean> {
  const { rows } = await pool.query<ModelJob>(
    'select id, queue, data, failures from model_jobs where queue = $1 and start_after <= now() order by id',
    [queue],
  );
  const isFree = ({ id }: ModelJob): boolean => active.get(id)?.isCrashed() ?? true;
  if (!rows.some(isFree) || (capacity !== undefined && (await capacity()) <= 0)) return false;
  const job = rows.find(isFree);
  if (job === undefined || process.isCrashed()) return false;
  const { id, data, failures } = job;
  active.set(id, process);
  let settlement = 'delete from model_jobs where id = $1';
  try {
    const signal = new AbortController().signal;
    const outcome = await handler({ id, data, retryCount: failures, signal });
    if (outcome) settlement = put(outcome.againInSeconds);
  } catch {
    if (failures < MAX_FAILURES) settlement = put(2 ** failures, 'failures = failures + 1,');
  }
  await process.gate('settle job');
  await pool.query(settlement, [id]);
  active.delete(id);
  return true;
}

const put = (seconds: number, change = ''): string =>
  `update model_jobs set ${change} start_after = now() + interval '${seconds} seconds' where id = $1`;
