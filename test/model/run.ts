import type { Pool } from 'pg';

import { perform, type Action } from './actions.ts';
import type { Scheduler } from './scheduled-process.ts';
import { createWorld, ENDED, type World } from './world.ts';

/** Most rounds after which everything must have ended, each a while later than the one before. */
const MAX_ROUNDS = 40;

/** One run: the actions in whatever order the scheduler gives their calls, then the invariants. */
export async function runModel(
  pool: Pool,
  scheduler: Scheduler,
  actions: readonly Action[],
): Promise<readonly string[]> {
  await pool.query('delete from media.task_events; delete from media.tasks; delete from model_jobs');
  const world = createWorld(pool, scheduler);
  for (const action of actions) await perform(world, action);
  await world.schedule.drain(world.isIdle);
  world.schedule.free();
  await settle(world);
  const broken = [...world.upstream.violations, ...(await brokenInvariants(world))];
  const thrown = world.errors.map(
    (error) => `thrown: ${error instanceof Error ? error.stack : String(error)}`,
  );
  for (const process of world.processes) await process.crash();
  return [...broken, ...thrown];
}

/** The world behaves from here on: whatever was accepted must end. */
async function settle(world: World): Promise<void> {
  const { upstream, files, pool } = world;
  Object.assign(upstream, { isSilent: false, cancelsFail: false });
  upstream.nextStarts.length = 0;
  files.unavailable = 0;
  const [process] = world.processes;
  if (process === undefined) throw new Error('no process');
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    for (const queue of await dueQueues(pool)) while (await process.deliver(queue));
    for (const purchase of upstream.purchases) if (purchase.state === 'running') purchase.state = 'finished';
    await process.worker.poller.poll();
    await process.worker.recovery.sweep();
    const { rows } = await pool.query(`select 1 from media.tasks where ended_at is null
      union all select 1 from media.attempts where state in ('STARTING', 'RUNNING') limit 1`);
    if (rows.length === 0) return;
    await world.letPass([20, 60, 400][round % 3] ?? 20);
    if (round > 0) await process.worker.sweep();
  }
}

async function dueQueues(pool: Pool): Promise<readonly string[]> {
  const { rows } = await pool.query<{ queue: string }>(
    'select distinct queue from model_jobs where queue <> $1 and start_after <= now()',
    [ENDED],
  );
  return rows.map(({ queue }) => queue);
}

/** What does not hold at the end of a run. */
async function brokenInvariants({ pool }: World): Promise<readonly string[]> {
  const { rows } = await pool.query<{ broken: string }>(
    `select 'does not end: ' || id || ' ' || state || ', ' || stage as broken from media.tasks where ended_at is null
    union all select 'holds a slot: ' || reference || ' ' || state || ' ' || coalesce(claim::text, 'unclaimed')
      from media.attempts where state in ('STARTING', 'RUNNING')
    union all select 'step is open: ' || step.task_id || '/' || step.step || ' ' || step.state
      from media.task_steps step join media.tasks task on task.id = step.task_id
      where task.ended_at is not null and step.state in ('QUEUED', 'RUNNING', 'STORING')
    union all select 'events: ' || task.id || ' has ' || count(event.seq) || ' up to ' || task.last_seq
      from media.tasks task left join media.task_events event on event.task_id = task.id
      group by task.id
      having count(event.seq) <> task.last_seq or max(event.seq) <> task.last_seq
        or count(*) filter (where event.state in ('SUCCEEDED', 'FAILED', 'CANCELLED')) <> 1
        or (array_agg(event.state order by event.seq desc))[1] <> task.state
    union all select 'end is told ' || count(job.id) || ' times: ' || task.id
      from media.tasks task left join model_jobs job on job.queue = $1 and job.data ->> 'taskId' = task.id::text
      group by task.id having count(job.id) <> 1 or max(job.data ->> 'state') <> task.state
    union all select 'succeeded without a result: ' || id from media.tasks
      where state = 'SUCCEEDED' and jsonb_array_length(result -> 'mediaIds') = 0`,
    [ENDED],
  );
  return rows.map(({ broken }) => broken);
}
