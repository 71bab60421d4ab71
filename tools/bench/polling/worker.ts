import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';

import { sql } from 'kysely';
import type { PoolConfig } from 'pg';

import { createDatabase } from '../../../platform/database/database.ts';
import { migrate } from '../../../platform/database/migrations.ts';
import { createEventBus } from '../../../platform/events/postgres/postgres-event-bus.ts';
import { createOutboundRule } from '../../../platform/http/safe-url.ts';
import { createHttpClient } from '../../../platform/http/undici-http-client.ts';
import { silentLogger } from '../../../platform/process/logger.ts';
import { queueMigrations } from '../../../platform/queue/migrations.ts';
import { createQueue } from '../../../platform/queue/postgres-queue.ts';
import { mediaDatabase } from '../../../subgraphs/media/database/database.ts';
import { mediaMigrations } from '../../../subgraphs/media/database/migrations/index.ts';
import { createGeneratorRegistry } from '../../../subgraphs/media/generators/bindings/registry.ts';
import type { JobCapability, Provider } from '../../../subgraphs/media/providers/contract/provider.ts';
import { createExchange } from '../../../subgraphs/media/providers/shared/exchange.ts';
import { createStepPlanner } from '../../../subgraphs/media/recipes/planner.ts';
import { memoryFiles } from '../../../subgraphs/media/tasks/testing/memory-files.ts';
import { testBinding } from '../../../subgraphs/media/tasks/testing/provider.ts';
import { createTaskWorker } from '../../../subgraphs/media/tasks/work/worker.ts';
import type { Lag, PollOrder } from './polling.ts';

// One worker over tasks that run already, at an upstream that is asked every 2 to 5 s. The words are the connection as
// JSON and the upstream's address.
const [connection = '{}', upstreamUrl = ''] = process.argv.slice(2);
const logger = silentLogger();
const platform = createDatabase({
  config: JSON.parse(connection) as PoolConfig,
  maxConnections: 10,
  applicationName: 'bench',
  logger,
});
await migrate({ database: platform, sets: [mediaMigrations, queueMigrations], logger });
const database = mediaDatabase(platform);
const bus = await createEventBus({ database: platform, logger });
const queue = await createQueue({ database: platform, bus, logger });
const http = createHttpClient({ outbound: createOutboundRule({ allow: [] }), logger });
const binding = testBinding('polled#0', upstream(), upstreamUrl, {
  attemptTimeoutSeconds: 600,
  budgetSeconds: 600,
  concurrency: 10_000,
});
const registry = createGeneratorRegistry({ bindings: [binding] });
const worker = createTaskWorker({
  database,
  queue,
  bus,
  http,
  files: memoryFiles(),
  registry,
  planner: createStepPlanner(registry),
  logger,
  eventRetentionDays: 0,
});

process.on('message', (message) => {
  void measure(message as PollOrder).then((lag) => process.send?.(lag));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });

let polls = 0;

function upstream(): Provider {
  const exchange = createExchange(http);
  const job: JobCapability = {
    start: () => Promise.reject(new Error('nothing is started here')),
    async status(handle, context) {
      polls += 1;
      const { json } = await exchange(context, { method: 'GET', path: `/jobs/${handle['id'] as string}` });
      const { state } = json as { readonly state: 'running' | 'finished' };
      if (state === 'running') return { state, progress: null };
      return { state, outcome: { files: [], texts: ['done'] } };
    },
    // Every 2 to 5 s, as the wires of Kiln do; drawn anew for each answer.
    get pollMs() {
      return 2_000 + Math.random() * 3_000;
    },
  };
  return { name: 'polled', jobs: { DESCRIPTION: job } };
}

async function measure({ tasks, shortestSeconds, longestSeconds }: PollOrder): Promise<Lag> {
  await insertEnded({ shortestSeconds, longestSeconds });
  await insertRunning({ tasks, shortestSeconds, longestSeconds });
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  await worker.start();
  const startedAt = performance.now();
  const before = process.cpuUsage();
  let memoryMiB = 0;
  for (let open = tasks; open > 0;) {
    await pause(1_000);
    memoryMiB = Math.max(memoryMiB, process.memoryUsage.rss() / 1024 ** 2);
    const { rows } = await sql<{ open: number }>`
      select count(*)::integer as open from media.attempts where state = 'RUNNING'`.execute(database);
    open = rows[0]?.open ?? 0;
  }
  delay.disable();
  const { user, system } = process.cpuUsage(before);
  const cores = (user + system) / 1_000 / (performance.now() - startedAt);
  const [lags] = await readLags(database);
  await worker.stop(5);
  return {
    p50: lags?.p50 ?? 0,
    p99: lags?.p99 ?? 0,
    writtenP50: lags?.writtenP50 ?? 0,
    writtenP99: lags?.writtenP99 ?? 0,
    cores,
    polls: polls / tasks,
    loopP99: delay.percentile(99) / 1e6,
    memoryMiB,
  };
}

type Lags = Pick<Lag, 'p50' | 'p99' | 'writtenP50' | 'writtenP99'>;

/** An attempt ends when the transaction begins that closes it; its task's end event has the time of its own statement. */
async function readLags(media: typeof database): Promise<readonly Lags[]> {
  const { rows } = await sql<Lags>`
    select percentile_cont(0.5) within group (order by seen) as p50,
      percentile_cont(0.99) within group (order by seen) as p99,
      percentile_cont(0.5) within group (order by written) as "writtenP50",
      percentile_cont(0.99) within group (order by written) as "writtenP99"
    from (
      select extract(epoch from attempt.ended_at)::double precision * 1000 - finished.at as seen,
        extract(epoch from event.at)::double precision * 1000 - finished.at as written
      from media.attempts attempt
        join media.task_events event on event.task_id = attempt.task_id and event.state = 'SUCCEEDED',
        lateral (select (attempt.handle ->> 'id')::double precision as at) finished
      where attempt.handle ? 'id'
    ) lags`.execute(media);
  return rows;
}

/** Tasks as they are when an upstream has just taken them; their first polls are spread as later ones are. */
async function insertRunning({ tasks, shortestSeconds, longestSeconds }: PollOrder): Promise<void> {
  const input = JSON.stringify({ kind: 'DESCRIPTION', generator: 'polled', image: { fileId: 'none' } });
  await sql`
    with made as (
      select gen_random_uuid() as id,
        floor(extract(epoch from now()) * 1000
          + (${shortestSeconds}::float + random() * ${longestSeconds - shortestSeconds}::float) * 1000) as finishes_at
      from generate_series(1, ${tasks}::integer)
    ), task as (
      insert into media.tasks (id, owner, kind, generator, input, state, stage, last_seq, started_at)
      select id, 'anon', 'DESCRIPTION', 'polled', ${input}::jsonb, 'RUNNING', 'starting', 1, now() from made
      returning id
    ), step as (
      insert into media.task_steps (task_id, step, label, input, state, binding, started_at)
      select made.id, 1, '', ${input}::jsonb, 'RUNNING', 'polled#0', now() from made join task on task.id = made.id
      returning task_id
    )
    insert into media.attempts (task_id, step, number, binding, provider, reference, state, handle, running_at, next_poll_at)
    select made.id, 1, 1, 'polled#0', 'polled', made.id || '/1/1', 'RUNNING',
      jsonb_build_object('id', made.finishes_at::text), now(), now() + random() * interval '3.5 seconds'
    from made join step on step.task_id = made.id`.execute(database);
}

/** Earlier work of the binding, which took as long: what a worker has learnt that has run for a while. */
async function insertEnded({ shortestSeconds, longestSeconds }: Omit<PollOrder, 'tasks'>): Promise<void> {
  await sql`
    with task as (
      insert into media.tasks (id, owner, kind, generator, input, state, stage, last_seq, started_at, ended_at)
      select gen_random_uuid(), 'anon', 'DESCRIPTION', 'polled', '{}'::jsonb, 'SUCCEEDED', 'done', 1, now(), now() from generate_series(1, 64)
      returning id
    )
    insert into media.attempts (task_id, step, number, binding, provider, reference, state, running_at, ended_at)
    select id, 1, 1, 'polled#0', 'polled', id || '/1/1', 'SUCCEEDED',
      now() - make_interval(secs => ${shortestSeconds}::float + random() * ${longestSeconds - shortestSeconds}::float), now()
    from task`.execute(database);
}
