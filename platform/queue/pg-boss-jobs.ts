import type { Pool } from 'pg';

/** The data of open jobs of queue $1 that are still there: it has no waiting ones for long. */
export const OPEN_PG_BOSS_JOBS = `
  select data from pgboss.job where name = $1 and state = 'active'
  union all
  select data from pgboss.job where name = $1 and state < 'active' and not blocked`;

const QUEUES = `
  insert into queue.queues (name, retry_limit, retry_delay, retry_delay_max)
  select name, retry_limit, retry_delay, coalesce(retry_delay_max, 300) from pgboss.queue
  where name not in (select name from queue.queues) and not starts_with(name, '__')
  on conflict do nothing`;

// There a job that has been started counts a retry at its next claim, here one when its claim ends.
const MOVE = `
  with waiting as (
    select name, id from pgboss.job where state < 'active' and not blocked limit 1000 for update skip locked
  ), lost as (
    select name, id from pgboss.job
    where state = 'active' and heartbeat_on + heartbeat_seconds * interval '1s' < now()
    limit 1000 for update skip locked
  ), taken as (
    delete from pgboss.job as job using (select * from waiting union all select * from lost) as one
    where job.name = one.name and job.id = one.id
    returning job.*
  )
  insert into queue.jobs (id, queue, data, owner, kind, due_at, retries, created_at)
  select id, name, coalesce(data, 'null'), coalesce(group_id, '-'), coalesce(group_tier, '-'), start_after,
    retry_count + (started_on is not null)::int, created_on
  from taken
  on conflict (id) do nothing`;

const PRUNE = `delete from pgboss.job where completed_on < now() - interval '1 day'`;

/**
 * Jobs of the releases up to 0.2, which kept them in pg-boss's tables: processes of such a release may still enqueue and
 * work there while this one replaces it. What waits, and what a dead worker has left, is moved over by one statement that takes
 * each job from there as it puts it here. Goes with the release that drops these tables. Null where this
 * database never had pg-boss.
 */
export async function findPgBossJobs(pool: Pool) {
  const { rows } = await pool.query<{ isThere: boolean }>(
    `select to_regclass('pgboss.job') is not null and to_regclass('pgboss.queue') is not null as "isThere"`,
  );
  if (rows[0]?.isThere !== true) return null;
  return {
    /** Makes every queue of theirs known here, and moves the jobs that nobody works on; at most 1,000 at a time. */
    async move() {
      await pool.query(QUEUES);
      await pool.query(MOVE);
    },
    /** Deletes there what ended a day ago. */
    async prune() {
      await pool.query(PRUNE);
    },
  };
}

export type PgBossJobs = NonNullable<Awaited<ReturnType<typeof findPgBossJobs>>>;
