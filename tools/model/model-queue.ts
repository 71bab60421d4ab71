import { sql } from 'kysely';
import type { Pool } from 'pg';

import type { Json } from '../../platform/json.ts';
import type { JobHandler, JobOutcome, Queue } from '../../platform/queue/queue.ts';
import type { ScheduledProcess } from './scheduled-process.ts';

/**
 * Jobs in a table of their own, so that the model decides when one is delivered, given up or lost. Enqueuing is part of
 * the transaction of the row, as with the real queue.
 */
export const MODEL_JOBS = `create table model_jobs (
  id bigint generated always as identity primary key, queue text not null, data jsonb not null,
  start_after timestamptz not null default now(), failures integer not null default 0)`;

/** Queue that learns of the ends of tasks that nobody has paid for; nobody works on it. */
export const ENDED = 'model.ended';

/** Most failures of a job before it is given up. */
const MAX_FAILURES = 2;

const ENQUEUE = `insert into model_jobs (queue, data, start_after)
  select queue, data, now() + make_interval(secs => coalesce("startAfterSeconds", 0))
  from jsonb_to_recordset($1::jsonb) as job(queue text, data jsonb, "startAfterSeconds" float8)`;

/** The queue as a process has it: it enqueues and compares, and the model delivers. */
export function createModelQueue(process: ScheduledProcess): Queue {
  return {
    define: async () => {},
    isDefined: async () => true,
    enqueueing: (...jobs) => Promise.resolve({ text: ENQUEUE, jobs: JSON.stringify(jobs) }),
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
    freed: () => {},
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
  const { rows } = await pool.query<{ queue: string }>({
    name: 'model-due-queues',
    text: 'select distinct queue from model_jobs where queue <> $1 and start_after <= now() order by queue',
    values: [ENDED],
  });
  return rows.map(({ queue }) => queue);
}

/** Works on a queue, as long as there is room. */
export interface ModelWork {
  readonly queue: string;
  readonly handler: JobHandler;
  readonly capacity?: (() => Promise<number>) | undefined;
  /** Also a job on which somebody works already. */
  readonly isAgain?: boolean;
}

/** Delivers the oldest due job of a queue that nobody works on; false when there is none, or no room for it. */
export async function deliverJob(
  { pool, active }: DeliveryOptions,
  process: ScheduledProcess,
  { queue, handler, capacity, isAgain = false }: ModelWork,
): Promise<boolean> {
  const { rows } = await pool.query<ModelJob>({
    name: 'model-due-jobs',
    text: 'select id, queue, data, failures from model_jobs where queue = $1 and start_after <= now() order by id',
    values: [queue],
  });
  const isFree = ({ id }: ModelJob): boolean => isAgain || (active.get(id)?.isCrashed() ?? true);
  if (!rows.some(isFree) || (capacity !== undefined && (await capacity()) <= 0)) return false;
  const job = rows.find(isFree);
  if (job === undefined || process.isCrashed()) return false;
  const { id, data, failures } = job;
  active.set(id, process);
  let outcome: JobOutcome = undefined;
  let isFailed = false;
  try {
    const signal = new AbortController().signal;
    outcome = await handler({ id, data, retryCount: failures, signal });
  } catch {
    isFailed = true;
    if (failures < MAX_FAILURES) outcome = { againInSeconds: 2 ** failures };
  }
  await process.gate('settle job');
  await pool.query(outcome ? again(id, outcome.againInSeconds, isFailed) : { ...DONE, values: [id] });
  active.delete(id);
  return true;
}

const DONE = { name: 'model-job-done', text: 'delete from model_jobs where id = $1' };

const again = (id: string, seconds: number, isFailed: boolean) => ({
  name: 'model-job-again',
  text: `update model_jobs set start_after = now() + make_interval(secs => $2::float8), failures = failures + $3::int
    where id = $1`,
  values: [id, seconds, isFailed ? 1 : 0],
});
