import type { Pool } from 'pg';

import { type Json, jsonText } from '../json.ts';

/** The claim of a worker on a job: its number grows with each claim. */
export interface Claim {
  readonly id: string;
  readonly claims: number;
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

/** How long a claim holds without being extended: then its worker counts as dead. */
export const LEASE = `interval '10 seconds'`;
/** Most rows that one statement deletes. */
const PRUNED_AT_ONCE = 1_000;

const HELD = `job.id = claim.id and job.state = 'active' and job.claims = claim.claims`;
const ENDS = `(claim.kind = 'completed' or claim.kind = 'failed' and job.retries >= queue.retry_limit)`;

// Whose turn it was goes: nothing of a person stays in what has ended.
const SETTLE = `/* prepared: jobs.settle */
  update queue.jobs as job set
    state = case when ${ENDS} then claim.kind else 'waiting' end,
    ended_at = case when ${ENDS} then now() end,
    owner = case when ${ENDS} then '-' else job.owner end,
    lease_ends_at = null,
    due_at = case claim.kind
      when 'failed' then now() + interval '1s' * least(
        queue.retry_delay_max, queue.retry_delay * 2 ^ least(16, job.retries) * (0.8 + 0.4 * random()))
      when 'again' then now() + interval '1s' * claim."inSeconds"
      else job.due_at end,
    retries = case when claim.kind = 'again' then 0
      when claim.kind = 'failed' and not ${ENDS} then job.retries + 1
      else job.retries end,
    -- Nor what it was about: the job of an erasure names whom it erased.
    data = case when claim.kind = 'completed' then 'null'
      when claim."hasData" then coalesce(claim.data, 'null') else job.data end,
    error = case when claim.kind = 'failed' then claim.reason end
  from jsonb_to_recordset($1::jsonb) as claim(
    id uuid, claims int, kind text, reason text, "inSeconds" float8, "hasData" boolean, data jsonb),
    queue.queues as queue
  where ${HELD} and queue.name = job.queue
  returning job.id`;

const EXTEND = `/* prepared: jobs.extend */
  update queue.jobs as job set lease_ends_at = now() + ${LEASE}
  from jsonb_to_recordset($1::jsonb) as claim(id uuid, claims int)
  where ${HELD}
  returning job.id`;

const RECLAIM = `/* prepared: jobs.reclaim */
  with lost as (
    select job.id, job.retries < queue.retry_limit as retries
    from queue.jobs as job join queue.queues as queue on queue.name = job.queue
    where job.state = 'active' and job.lease_ends_at < now()
    limit 500 for update of job skip locked)
  update queue.jobs as job set
    state = case when lost.retries then 'waiting' else 'failed' end,
    ended_at = case when not lost.retries then now() end,
    owner = case when lost.retries then job.owner else '-' end,
    lease_ends_at = null,
    due_at = now(),
    retries = case when lost.retries then job.retries + 1 else job.retries end,
    error = 'its worker was lost'
  from lost where job.id = lost.id
  returning job.queue, job.id, job.state`;

const PRUNE = `
  delete from queue.jobs where id in (
    select id from queue.jobs where ended_at < now() - interval '1 day'
    order by ended_at limit ${PRUNED_AT_ONCE} for update skip locked)`;

/**
 * What happens to claimed jobs, many in one statement; claim.ts claims them. Whatever a worker does to a job names its
 * claim: a worker that was paused and lost a job changes nothing.
 */
export function createClaimedJobs(pool: Pool) {
  async function readIds(text: string, claims: readonly unknown[]): Promise<Set<string>> {
    const { rows } = await pool.query<{ id: string }>(text, [jsonText(claims)]);
    return new Set(rows.map(({ id }) => id));
  }
  return {
    /** Ends claims; returns the ids of those that were still held. */
    settle: (batch: readonly (readonly [Claim, Settlement])[]) =>
      readIds(
        SETTLE,
        batch.map(([{ id, claims }, settlement]) => ({
          ...settlement,
          id,
          claims,
          hasData: settlement.kind === 'again' && settlement.data !== undefined,
        })),
      ),
    /** Extends the leases of claims; returns the ids of those that are still held. */
    extend: (batch: readonly Claim[]) => readIds(EXTEND, batch),
    /** Takes jobs from workers whose leases have ended, to be retried at once. */
    async reclaimLost() {
      const { rows } = await pool.query<{ queue: string; id: string; state: 'waiting' | 'failed' }>(RECLAIM);
      return rows;
    },
    /** Deletes jobs that ended a day ago. */
    async prune() {
      let deleted = PRUNED_AT_ONCE;
      while (deleted === PRUNED_AT_ONCE) deleted = (await pool.query(PRUNE)).rowCount ?? 0;
    },
  };
}

export type ClaimedJobs = ReturnType<typeof createClaimedJobs>;
