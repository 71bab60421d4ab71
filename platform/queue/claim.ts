import type { Pool } from 'pg';

import type { Json } from '../json.ts';
import { type Claim, LEASE } from './claimed-jobs.ts';

/**
 * Claims jobs in turns: the owners that have a job which is due follow each other, wherever in the line their jobs stand, so
 * that one with thousands of jobs costs another's only job a turn. Of one owner's kinds each is as likely. Within owner and
 * kind the oldest goes first. Owners are found by skipping through an index from the one that was served last: a claim
 * costs what it claims, not what waits. Everything without an owner counts as one.
 */

/** A job that is ours now. */
export interface ClaimedJob extends Claim {
  readonly data: Json;
  readonly retries: number;
  readonly retryLimit: number;
}

/** What a claim brings. */
export interface Claimed {
  /** In the order of their turns. */
  readonly jobs: readonly ClaimedJob[];
  /** Whether more may be due. */
  readonly hasMore: boolean;
}

interface ClaimedRow extends ClaimedJob {
  readonly owner: string;
  readonly turn: number;
  readonly more: boolean;
}

// In the words of the index jobs_waiting.
const DUE = `job.queue = $1 and job.state = 'waiting' and job.due_at <= now()`;

// $1 queue, $2 how many, $3 the owner that was served last.
const CLAIM = `/* prepared: jobs.claim */
  with recursive owners as (
    select 0 as place, $3::text collate "C" as owner, false as again, false as is_end
    union all
    select owners.place + case when next.owner is null then 0 else 1 end, coalesce(next.owner, ''), next.again, next.is_end
    from owners cross join lateral (
      (select job.owner, owners.again, false as is_end from queue.jobs as job
        where ${DUE} and job.owner > owners.owner and (not owners.again or job.owner <= $3)
        order by job.owner limit 1)
      union all
      select null, true, owners.again
      limit 1
    ) as next
    where owners.place < $2 and not owners.is_end
  ), kinds as (
    select owners.place, owners.owner, first.kind
    from owners cross join lateral (
      select job.kind from queue.jobs as job
      where ${DUE} and job.owner = owners.owner order by job.kind limit 1) as first
    where owners.place > 0 and owners.owner <> ''
    union all
    select kinds.place, kinds.owner, next.kind
    from kinds cross join lateral (
      select job.kind from queue.jobs as job
      where ${DUE} and job.owner = kinds.owner and job.kind > kinds.kind order by job.kind limit 1) as next
  ), share as (
    select ceil($2::numeric / greatest(1, count(distinct owner)))::int as size from kinds
  ), heads as (
    select kinds.place, kinds.owner, kinds.kind, head.id, head.nth
    from kinds cross join lateral (
      select locked.id, row_number() over (order by locked.created_at) as nth from (
        select job.id, job.created_at from queue.jobs as job
        where ${DUE} and job.owner = kinds.owner and job.kind = kinds.kind
        order by job.created_at limit (select size from share)
        for update of job skip locked) as locked) as head
  ), turns as (
    select heads.*, row_number() over (partition by heads.owner order by heads.nth, random()) as round from heads
  ), chosen as (
    select turns.*, row_number() over (order by turns.round, turns.place) as turn from turns
    order by turns.round, turns.place limit $2
  )
  update queue.jobs as job set state = 'active', claims = job.claims + 1, lease_ends_at = now() + ${LEASE}
  from chosen
  where job.id = chosen.id
  returning job.id, job.claims, job.data, job.retries, chosen.owner, chosen.turn::int,
    (select retry_limit from queue.queues where name = $1) as "retryLimit",
    (select max(nth) from heads) >= (select size from share) as more`;

/** Makes what claims the jobs of one queue in this process; it remembers who was served last. */
export function createClaims(pool: Pool, queue: string): (limit: number) => Promise<Claimed> {
  let last = '';
  return async (limit) => {
    const { rows } = await pool.query<ClaimedRow>(CLAIM, [queue, limit, last]);
    const jobs = rows.toSorted((one, other) => one.turn - other.turn);
    last = jobs.at(-1)?.owner ?? last;
    return { jobs, hasMore: jobs.some(({ more }) => more) };
  };
}
