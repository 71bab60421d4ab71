import { sql } from 'kysely';

import type { MediaDatabase } from '../../database/database.ts';

/** The totals of usage, and the same counted from the tasks and attempts themselves: they must be equal. */
export async function totalsAndRecount(database: MediaDatabase) {
  const totals = await sql<Totals>`
    select day::text, owner, provider, model, sum(tasks_succeeded)::integer as succeeded,
      sum(tasks_failed + tasks_cancelled)::integer as other, sum(attempts_succeeded)::integer as done,
      sum(attempts_failed)::integer as failed, sum(cost)::integer as cost, sum(unpriced)::integer as unpriced,
      sum(pictures)::integer as pictures, sum(runs)::integer as runs
    from media.usage group by 1, 2, 3, 4 order by 1, 2, 3, 4`.execute(database);
  const recount = await sql<Totals>`
    with ended as (
      select (task.ended_at at time zone 'utc')::date::text as day, task.owner,
        coalesce(last.provider, '') as provider, coalesce(last.model, '') as model,
        (task.state = 'SUCCEEDED')::integer as succeeded, (task.state <> 'SUCCEEDED')::integer as other,
        0 as done, 0 as failed, 0 as cost, 0 as unpriced, 0 as pictures, 0 as runs
      from media.tasks task left join lateral (
        select provider, model from media.attempts where task_id = task.id order by step desc, number desc limit 1
      ) last on true where task.ended_at is not null
      union all
      select (attempt.settled_at at time zone 'utc')::date::text, task.owner, attempt.provider,
        coalesce(attempt.model, ''), 0, 0, (attempt.state = 'SUCCEEDED')::integer,
        (attempt.state <> 'SUCCEEDED')::integer, coalesce(attempt.cost, 0)::integer, (attempt.cost is null)::integer,
        coalesce((attempt.units->>'pictures')::integer, 0), coalesce((attempt.units->>'runs')::integer, 0)
      from media.attempts attempt join media.tasks task on task.id = attempt.task_id
      where attempt.settled_at is not null or attempt.ended_at is not null and attempt.claim is not null
    )
    select day, owner, provider, model, sum(succeeded)::integer as succeeded, sum(other)::integer as other,
      sum(done)::integer as done, sum(failed)::integer as failed, sum(cost)::integer as cost,
      sum(unpriced)::integer as unpriced, sum(pictures)::integer as pictures, sum(runs)::integer as runs
    from ended group by 1, 2, 3, 4 order by 1, 2, 3, 4`.execute(database);
  return { totals: totals.rows, recount: recount.rows };
}

interface Totals {
  readonly day: string;
  readonly owner: string;
  readonly provider: string;
  readonly model: string;
  readonly succeeded: number;
  readonly other: number;
  readonly done: number;
  readonly failed: number;
  readonly cost: number;
  readonly unpriced: number;
  readonly pictures: number;
  readonly runs: number;
}
