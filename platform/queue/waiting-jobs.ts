import type { Pool } from 'pg';

import { type Json, jsonText } from '../json.ts';
import type { EnqueueStatement, NewJob } from './queue.ts';

const ENQUEUE = `/* prepared: jobs.enqueue */
  insert into queue.jobs (id, queue, data, owner, kind, due_at)
  select coalesce(id, gen_random_uuid()), queue, coalesce(data, 'null'), coalesce(owner, '-'), coalesce(kind, '-'),
    now() + interval '1s' * coalesce("startAfterSeconds", 0)
  from jsonb_to_recordset($1::jsonb) as job(
    id uuid, queue text, data jsonb, owner text, kind text, "startAfterSeconds" float8)
  on conflict (id) do nothing`;

// Rows that are locked are being hastened or claimed by others.
const HASTEN = `
  with later as (
    select id from queue.jobs where queue = $1 and state = 'waiting' and due_at > now()
    limit 10000 for update skip locked)
  update queue.jobs as job set due_at = now() from later where job.id = later.id`;

const WITH_WORK = `/* prepared: jobs.with-work */
  select name from unnest($1::text[]) as name
  where exists (
    select from queue.jobs as job where job.queue = name and job.state = 'waiting' and job.due_at <= now())`;

// In the words of the indexes jobs_active and jobs_waiting, which hold none that has ended.
const OPEN = `
  select data from queue.jobs where queue = $1 and state = 'active'
  union all
  select data from queue.jobs where queue = $1 and state = 'waiting'`;

/** Enqueues jobs, whose queues are known; of a list that is empty, or of ids that are there, nothing. */
export function enqueueStatement(jobs: readonly NewJob[]): EnqueueStatement {
  return { text: ENQUEUE, jobs: jsonText(jobs) };
}

/** Statements on jobs that wait. `others` selects the data of open jobs of queue $1 that are kept elsewhere. */
export function createWaitingJobs(pool: Pool, others: string | null) {
  const open = others === null ? OPEN : `${OPEN} union all ${others}`;
  const withoutJob = `/* jobs.without */
    with open as (${open})
    select wanted.place::int from jsonb_array_elements($2::jsonb) with ordinality as wanted(data, place)
    where not exists (select from open where open.data = wanted.data)
    order by wanted.place`;
  return {
    /** Of these data, those that no job of the queue has that has not ended. */
    async withoutJob(queue: string, data: readonly Json[]): Promise<readonly Json[]> {
      if (data.length === 0) return [];
      const { rows } = await pool.query<{ place: number }>(withoutJob, [queue, jsonText(data)]);
      return rows.map(({ place }) => data[place - 1] ?? null);
    },
    /** Makes jobs due that were put off, at most 10,000. */
    async hasten(queue: string) {
      await pool.query(HASTEN, [queue]);
    },
    /** The queues that have a job ready to be claimed. */
    async withWork(queues: readonly string[]) {
      const { rows } = await pool.query<{ name: string }>(WITH_WORK, [queues]);
      return rows.map(({ name }) => name);
    },
  };
}

export type WaitingJobs = ReturnType<typeof createWaitingJobs>;
