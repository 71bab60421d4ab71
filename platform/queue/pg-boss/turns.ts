import type { Pool } from 'pg';

import type { Json } from '../../json.ts';
import { SCHEMA } from './job-table.ts';

/**
 * Claims jobs in turns: the owners that have a job which is due follow each other, wherever in the line their jobs stand, so
 * that one with thousands of jobs costs another's only job a turn. Of one owner's kinds each is as likely. Within owner and
 * kind the oldest goes first. Owners are found by skipping through an index from the one that was served last: a claim
 * costs what it claims, not what waits. Everything without an owner counts as one.
 */

/** A job that is ours now. */
export interface ClaimedJob {
  readonly id: string;
  readonly data: Json;
  readonly retryCount: number;
  readonly retryLimit: number;
  readonly startedOn: Date;
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

// As in the index job_in_turn. What has no owner, or no kind, sorts as one more.
const OWNER = `coalesce(job.group_id, '-') collate "C"`;
const KIND = `coalesce(job.group_tier, '-') collate "C"`;

const DUE = `job.name = $1 and job.state < 'active' and not job.blocked and job.start_after <= now()`;

// $1 queue, $2 how many, $3 the owner that was served last.
const CLAIM = `/* prepared: jobs.claim */
  with recursive owners as (
    select 0 as place, $3::text collate "C" as owner, false as again, false as is_end
    union all
    select owners.place + case when next.owner is null then 0 else 1 end, coalesce(next.owner, ''), next.again, next.is_end
    from owners cross join lateral (
      (select ${OWNER} as owner, owners.again, false as is_end from ${SCHEMA}.job as job
        where ${DUE} and ${OWNER} > owners.owner and (not owners.again or ${OWNER} <= $3)
        order by ${OWNER} limit 1)
      union all
      select null, true, owners.again
      limit 1
    ) as next
    where owners.place < $2 and not owners.is_end
  ), kinds as (
    select owners.place, owners.owner, first.kind
    from owners cross join lateral (
      select ${KIND} as kind from ${SCHEMA}.job as job
      where ${DUE} and ${OWNER} = owners.owner order by ${KIND} limit 1) as first
    where owners.place > 0 and owners.owner <> ''
    union all
    select kinds.place, kinds.owner, next.kind
    from kinds cross join lateral (
      select ${KIND} as kind from ${SCHEMA}.job as job
      where ${DUE} and ${OWNER} = kinds.owner and ${KIND} > kinds.kind order by ${KIND} limit 1) as next
  ), share as (
    select ceil($2::numeric / greatest(1, count(distinct owner)))::int as size from kinds
  ), heads as (
    select kinds.place, kinds.owner, kinds.kind, head.id, head.nth
    from kinds cross join lateral (
      select locked.id, row_number() over (order by locked.created_on) as nth from (
        select job.id, job.created_on from ${SCHEMA}.job as job
        where ${DUE} and ${OWNER} = kinds.owner and ${KIND} = kinds.kind
        order by job.created_on limit (select size from share)
        for update of job skip locked) as locked) as head
  ), turns as (
    select heads.*, row_number() over (partition by heads.owner order by heads.nth, random()) as round from heads
  ), chosen as (
    select turns.*, row_number() over (order by turns.round, turns.place) as turn from turns
    order by turns.round, turns.place limit $2
  )
  update ${SCHEMA}.job as job set
    state = 'active', started_on = now(), heartbeat_on = now(),
    retry_count = case when job.started_on is null then job.retry_count else job.retry_count + 1 end
  from chosen
  where job.name = $1 and job.id = chosen.id
  returning job.id, job.data, job.retry_count as "retryCount", job.retry_limit as "retryLimit",
    job.started_on as "startedOn", chosen.owner, chosen.turn::int,
    (select max(nth) from heads) >= (select size from share) as more`;

/** Makes what claims the jobs of one queue in this process; it remembers who was served last. */
export function createTurns(pool: Pool, queue: string): (limit: number) => Promise<Claimed> {
  let last = '';
  return async (limit) => {
    const { rows } = await pool.query<ClaimedRow>(CLAIM, [queue, limit, last]);
    const jobs = rows.toSorted((one, other) => one.turn - other.turn);
    last = jobs.at(-1)?.owner ?? last;
    return { jobs, hasMore: jobs.some(({ more }) => more) };
  };
}
