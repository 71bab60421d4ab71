import { sql } from 'kysely';

import { anonymousCaller, type Caller } from '../../../../platform/access/caller.ts';
import { createDatabase } from '../../../../platform/database/database.ts';
import type { EventBus } from '../../../../platform/events/event-bus.ts';
import { createEventBus } from '../../../../platform/events/postgres/postgres-event-bus.ts';
import { createOutboundRule } from '../../../../platform/http/safe-url.ts';
import { createHttpClient } from '../../../../platform/http/undici-http-client.ts';
import { silentLogger } from '../../../../platform/process/logger.ts';
import { createQueue } from '../../../../platform/queue/postgres-queue.ts';
import type { Queue } from '../../../../platform/queue/queue.ts';
import { acquireReusedDatabase, type ReusedDatabase } from '../../../../test/kit/database/reused-database.ts';
import { mediaDatabase, type MediaDatabase } from '../../database/database.ts';
import { isFinal, type Task } from '../../domain/task.ts';
import type { Binding, GeneratorRegistry } from '../../generators/bindings/binding.ts';
import { createGeneratorRegistry } from '../../generators/bindings/registry.ts';
import { createStepPlanner, type RecipeGenerators } from '../../recipes/planner.ts';
import { createWebhookEndListener } from '../../webhooks/enqueue.ts';
import { createTaskService, type RunningTaskService, type TaskServiceOptions } from '../rules/service.ts';
import type { Submission } from '../rules/task-service.ts';
import type { WorkerLimits } from '../work/attempts/dependencies.ts';
import { createTaskWorker, type TaskWorker, type TaskWorkerOptions } from '../work/worker.ts';
import { memoryFiles } from './memory-files.ts';

/** What the tests of the task engine share: a real database, queue and bus. */

/**
 * A whole engine over an empty database, or over one that another process has created. `worker` and `service` make as many
 * of each as a test wants.
 */
export async function startEngine(existing?: { readonly connectionString: string }) {
  const logger = silentLogger();
  const source = existing ? openDatabase(existing.connectionString) : await acquireReusedDatabase();
  const { database } = source;
  const bus = await createEventBus({ database, logger });
  const queue = await createQueue({ database, bus, logger });
  const http = createHttpClient({ outbound: createOutboundRule({ allow: [] }), logger });
  const files = memoryFiles();
  const typed = mediaDatabase(database);
  const endListener = createWebhookEndListener(queue);
  const parts = { database: typed, queue, bus, http, files, logger, endListener, eventRetentionDays: 30 };
  const stops: (() => Promise<void>)[] = [];
  return {
    ...parts,
    pool: database.pool,
    platformDatabase: database,
    connectionString: source.connectionString,
    service(registry: GeneratorRegistry, change: Change<TaskServiceOptions> = {}): RunningTaskService {
      const planner = createStepPlanner(registry, change);
      const service = createTaskService({ ...parts, registry, planner, ...change });
      stops.push(async () => service.close());
      return service;
    },
    async worker(registry: GeneratorRegistry, change: Change<TaskWorkerOptions> = {}): Promise<TaskWorker> {
      const planner = createStepPlanner(registry, change);
      const limits = { ...QUICK, ...change.limits };
      const worker = createTaskWorker({ ...parts, registry, planner, ...change, limits });
      await worker.start();
      stops.push(() => worker.stop(1));
      return worker;
    },
    /** A queue as another process has it: for a second worker. */
    async anotherQueue(): Promise<Queue> {
      const another = await createQueue({ database, bus, logger });
      stops.push(() => another.stop(1));
      return another;
    },
    async ended(service: RunningTaskService, id: string, caller: Caller = me): Promise<Task> {
      return until(() => readEnded(service, id, caller));
    },
    count: (table: string) => countRows(typed, table),
    async stop() {
      for (const stop of stops.toReversed()) await stop();
      await queue.stop(1);
      await bus.close();
      await http.close();
      await source.release();
    },
  };
}

/** As another worker does that has given up a start: its attempt is closed, and its step waits elsewhere. */
export async function giveUpStart({ pool }: Pick<TestEngine, 'pool'>, reference: string): Promise<void> {
  await pool.query(
    `with given_up as (update media.attempts set state = 'FAILED', claim = gen_random_uuid() where reference = $1
      returning task_id)
    update media.task_steps set state = 'QUEUED', binding = 'other#0' where task_id in (select task_id from given_up)`,
    [reference],
  );
}

async function countRows(database: MediaDatabase, table: string): Promise<number> {
  const { rows } = await sql<{
    count: number;
  }>`select count(*)::integer as count from ${sql.table(table)}`.execute(database);
  return rows[0]?.count ?? 0;
}

type Change<Options> = Partial<Options> & RecipeGenerators;

async function readEnded(service: RunningTaskService, id: string, caller: Caller): Promise<Task | null> {
  const [task] = await service.readMany(caller, [id]);
  return task && isFinal(task.state) ? task : null;
}

/** The database of another process of the same test. */
function openDatabase(connectionString: string): ReusedDatabase {
  const database = createDatabase({
    config: { connectionString },
    maxConnections: 10,
    applicationName: 'test',
    logger: silentLogger(),
  });
  return { database, connectionString, release: () => database.close() };
}

export type TestEngine = Awaited<ReturnType<typeof startEngine>>;

const QUICK: Partial<WorkerLimits> = {
  statusTimeoutMs: 2_000,
  leaseSeconds: 3,
  // Half of it is how long a process may take from its claim to its start, which on a busy machine is seconds. Who tests a takeover
  // makes the claim old.
  claimStaleSeconds: 30,
  pollTickMs: 50,
  findGraceMs: 20,
  storePauseSeconds: 1,
};

/** Polls until `read` answers something, less often the longer that takes; fails after a long time. */
export async function until<Answer>(read: () => Promise<Answer | null | undefined | false>): Promise<Answer> {
  const start = Date.now();
  for (;;) {
    const answer = await read();
    if (answer) return answer;
    const waited = Date.now() - start;
    if (waited > 100_000) throw new Error('timed out waiting for a condition');
    await new Promise((resolve) => setTimeout(resolve, Math.max(30, Math.min(waited / 5, 200))));
  }
}

export const me: Caller = { kind: 'user', id: 'usr_me', scopes: [], traceId: 'test', address: null };
export const stranger: Caller = { ...me, id: 'usr_other' };
export const nobody = (address: string): Caller => anonymousCaller('test', address);

export function image(prompt = 'a fox', change: Partial<Submission> = {}): Submission {
  return {
    work: { kind: 'IMAGE', generator: 'test', prompt },
    fileIds: [],
    idempotencyKey: null,
    fingerprint: { operation: 'generateImage', prompt },
    ...change,
  };
}

export function toRegistry(...bindings: Binding[]): GeneratorRegistry {
  return createGeneratorRegistry({ bindings });
}

/** A bus that loses what `loses` says, as a real one may. */
export function lossyBus(bus: EventBus, loses: () => boolean): EventBus {
  return { ...bus, publish: (...wakeUp) => void (loses() || bus.publish(...wakeUp)) };
}
