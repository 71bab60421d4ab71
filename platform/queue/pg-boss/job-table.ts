import type { Pool } from 'pg';

import { type Json, jsonText } from '../../json.ts';

/**
 * Our own statements on pg-boss's job table. pg-boss creates it, inserts, fetches, expires and deletes; claimed jobs
 * are settled here, because the outcomes of many jobs go into one statement, a job can come back later without using a
 * retry, and every statement is bound to one claim: a worker that was paused and lost a job changes nothing. Whatever is
 * taken for granted of pg-boss beyond its public interface is in this file and turns.ts, and pinned by the test.
 */

/** The schema of pg-boss's tables. */
export const SCHEMA = 'pgboss';

/** The claim of a worker on a job. */
export interface Claim {
  readonly id: string;
  readonly retryCount: number;
  readonly startedOn: Date;
}

/** How a claim ends. */
export type Settlement =
  | { readonly kind: 'completed' }
  /** Retried after a growing pause, or failed for good after the last retry. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** Comes back later, with all its retries and perhaps new data. */
  | { readonly kind: 'again'; readonly inSeconds: number; readonly data?: Json | undefined }
  /** As if it had never been claimed. */
  | { readonly kind: 'released' };

interface LostJob {
  readonly queue: string;
  readonly id: string;
  readonly state: 'retry' | 'failed';
}

/** Statements on pg-boss's job table, each for many jobs. */
export interface JobTable {
  /** Adds the indexes of active jobs, and of the turns in which jobs are claimed. */
  prepare(): Promise<void>;
  /** Ends claims; returns the ids of those that were still held. */
  settle(queue: string, batch: readonly (readonly [Claim, Settlement])[]): Promise<Set<string>>;
  /** Sends a heartbeat for claims; returns the ids of those that are still held. */
  touch(queue: string, claims: readonly Claim[]): Promise<Set<string>>;
  /** Releases jobs of workers without heartbeats, to be retried at once. */
  reclaimLost(): Promise<readonly LostJob[]>;
  /** Of these data, those that no job of the queue has that has not ended. */
  withoutJob(queue: string, data: readonly Json[]): Promise<readonly Json[]>;
  /** Makes jobs due that were put off. */
  hasten(queue: string): Promise<void>;
  /** The queues that have a job ready to be claimed. */
  withWork(queues: readonly string[]): Promise<readonly string[]>;
}

// started_on arrives in milliseconds, so equal means closer than two of them.
const HELD = `job.name = $1 and job.id = claim.id and job.state = 'active' and job.retry_count = claim."retryCount"
  and abs(extract(epoch from job.started_on - claim."startedOn")) < 0.002`;

const PREPARED = `
  select to_regclass('${SCHEMA}.job_in_work') is not null and to_regclass('${SCHEMA}.job_in_turn') is not null as "isThere"`;

// In one implicit transaction: the lock keeps two first starts from creating the same index.
const PREPARE = `
  select pg_advisory_xact_lock(hashtext('${SCHEMA}.job_in_work'));
  create index if not exists job_in_work on ${SCHEMA}.job (name) where state = 'active';
  create index if not exists job_in_turn on ${SCHEMA}.job
    (name, (coalesce(group_id, '-') collate "C"), (coalesce(group_tier, '-') collate "C"), created_on, start_after)
    where state < 'active' and not blocked`;

const SETTLE = `/* prepared: jobs.settle */
  update ${SCHEMA}.job as job set
    state = case claim.kind
      when 'completed' then 'completed'
      when 'failed' then case when job.retry_count < job.retry_limit then 'retry' else 'failed' end
      else 'created' end::${SCHEMA}.job_state,
    completed_on = case
      when claim.kind = 'completed' or claim.kind = 'failed' and job.retry_count >= job.retry_limit then now() end,
    start_after = case claim.kind
      when 'failed' then now() + interval '1s' * least(
        job.retry_delay_max, job.retry_delay * 2 ^ least(16, job.retry_count) * (0.8 + 0.4 * random()))
      when 'again' then now() + interval '1s' * claim."inSeconds"
      else job.start_after end,
    -- Without a start, the next claim does not count as a retry.
    started_on = case when claim.kind in ('again', 'released') then null else job.started_on end,
    retry_count = case when claim.kind = 'again' then 0 else job.retry_count end,
    keep_until = case when claim.kind = 'again'
      then greatest(job.keep_until, now() + interval '1s' * claim."inSeconds" + interval '1 year')
      else job.keep_until end,
    heartbeat_on = null,
    -- Whose turn it was: nothing of a person stays in what has ended.
    group_id = case
      when claim.kind = 'completed' or claim.kind = 'failed' and job.retry_count >= job.retry_limit then null
      else job.group_id end,
    -- Nor what it was about: the job of an erasure names whom it erased.
    data = case when claim.kind = 'completed' then null when claim."hasData" then claim.data else job.data end,
    output = case when claim.kind = 'failed' then jsonb_build_object('message', claim.reason) end
  from jsonb_to_recordset($2::jsonb) as claim(
    id uuid, "retryCount" int, "startedOn" timestamptz, kind text, reason text, "inSeconds" float8, "hasData" boolean,
    data jsonb)
  where ${HELD}
  returning job.id`;

const TOUCH = `/* prepared: jobs.touch */
  update ${SCHEMA}.job as job set heartbeat_on = now()
  from jsonb_to_recordset($2::jsonb) as claim(id uuid, "retryCount" int, "startedOn" timestamptz)
  where ${HELD}
  returning job.id`;

const RECLAIM = `/* prepared: jobs.reclaim */
  with lost as (
    select name, id from ${SCHEMA}.job
    where state = 'active' and heartbeat_on + heartbeat_seconds * interval '1s' < now()
    limit 500 for update skip locked)
  update ${SCHEMA}.job as job set
    state = case when retry_count < retry_limit then 'retry' else 'failed' end::${SCHEMA}.job_state,
    completed_on = case when retry_count >= retry_limit then now() end,
    start_after = now(),
    heartbeat_on = null,
    group_id = case when retry_count < retry_limit then group_id end,
    output = jsonb_build_object('message', 'the worker was not heard of any more')
  from lost where job.name = lost.name and job.id = lost.id
  returning job.name as queue, job.id, job.state`;

// Rows that are locked are being hastened or fetched by others.
const HASTEN = `
  with later as (
    select id from ${SCHEMA}.job
    where name = $1 and state < 'active' and start_after > now() limit 10000 for update skip locked)
  update ${SCHEMA}.job as job set start_after = now() from later where job.name = $1 and job.id = later.id`;

const WITH_WORK = `/* prepared: jobs.with-work */
  select name from unnest($1::text[]) as name
  where exists (
    select from ${SCHEMA}.job as job
    where job.name = name.name and job.state < 'active' and not job.blocked and job.start_after <= now())`;

// In the words of the indexes job_in_work and job_in_turn, which hold none that has ended. Nothing of ours is ever blocked.
const WITHOUT_JOB = `/* jobs.without */
  with open as (
    select job.data from ${SCHEMA}.job as job where job.name = $1 and job.state = 'active'
    union all
    select job.data from ${SCHEMA}.job as job where job.name = $1 and job.state < 'active' and not job.blocked)
  select wanted.place::int from jsonb_array_elements($2::jsonb) with ordinality as wanted(data, place)
  where not exists (select from open where open.data = wanted.data)
  order by wanted.place`;

/** Makes the job table over a pool. */
export function createJobTable(pool: Pool): JobTable {
  return {
    async prepare() {
      const { rows } = await pool.query<{ isThere: boolean }>(PREPARED);
      // Creating what is there would still wait for everybody who writes.
      if (rows[0]?.isThere !== true) await pool.query(PREPARE);
    },
    async settle(queue, batch) {
      const claims = batch.map(([claim, settlement]) => ({
        ...claim,
        ...settlement,
        hasData: settlement.kind === 'again' && settlement.data !== undefined,
      }));
      const { rows } = await pool.query<{ id: string }>(SETTLE, [queue, jsonText(claims)]);
      return new Set(rows.map(({ id }) => id));
    },
    async touch(queue, claims) {
      const { rows } = await pool.query<{ id: string }>(TOUCH, [queue, JSON.stringify(claims)]);
      return new Set(rows.map(({ id }) => id));
    },
    async reclaimLost() {
      const { rows } = await pool.query<LostJob>(RECLAIM);
      return rows;
    },
    async withoutJob(queue, data) {
      if (data.length === 0) return [];
      const { rows } = await pool.query<{ place: number }>(WITHOUT_JOB, [queue, JSON.stringify(data)]);
      return rows.map(({ place }) => data[place - 1] ?? null);
    },
    async hasten(queue) {
      await pool.query(HASTEN, [queue]);
    },
    async withWork(queues) {
      const { rows } = await pool.query<{ name: string }>(WITH_WORK, [queues]);
      return rows.map(({ name }) => name);
    },
  };
}
