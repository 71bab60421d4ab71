import { DatabaseError, type Pool } from 'pg';

import { AppError } from '../../platform/errors.ts';
import type { EventBus } from '../../platform/events/event-bus.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import type { JobHandler } from '../../platform/queue/queue.ts';
import type { Binding, GeneratorRegistry } from '../../subgraphs/media/generators/bindings/binding.ts';
import { createStepPlanner } from '../../subgraphs/media/recipes/planner.ts';
import { startQueue, STORE_QUEUE } from '../../subgraphs/media/tasks/rules/queues.ts';
import { createTaskService } from '../../subgraphs/media/tasks/rules/service.ts';
import { createRunningAttempts } from '../../subgraphs/media/tasks/running-attempts.ts';
import { registryOf } from '../../subgraphs/media/tasks/testing/engine.ts';
import { memoryFiles, type MemoryFiles } from '../../subgraphs/media/tasks/testing/memory-files.ts';
import { testBinding } from '../../subgraphs/media/tasks/testing/provider.ts';
import { createWorkerParts } from '../../subgraphs/media/tasks/work/worker.ts';
import { createModelQueue, deliverJob } from './model-queue.ts';
import { createModelUpstream, type ModelUpstream } from './model-upstream.ts';
import {
  createScheduledProcess,
  createSchedule,
  type Schedule,
  type ScheduledProcess,
  type Scheduler,
} from './scheduled-process.ts';

/** Every binding of the model, with one slot each. `test` has two, `call` answers on the spot. */
export const BINDINGS = ['test#0', 'test#1', 'call#0'];
/** Queue that hears of the ends of tasks: what refunds hang on. */
export const ENDED = 'model.ended';
const CONCURRENCY = 1;
const LOCK_WAIT_MS = 500;
/** The error code of PostgreSQL for a lock that was not free in time. */
const LOCK_NOT_AVAILABLE = '55P03';
const PROCESSES = 2;
const logger = silentLogger();
const bus: EventBus = {
  publish: () => {},
  listen: () => () => {},
  onGap: () => () => {},
  listenerCount: () => 0,
  close: async () => {},
};

/** Everything of one run: processes over one database, an upstream, a store, and what they have done. */
export function createWorld(pool: Pool, scheduler: Scheduler) {
  const schedule = createSchedule(scheduler);
  const upstream = createModelUpstream(CONCURRENCY);
  const files = memoryFiles();
  const shared: Shared = { pool, schedule, upstream, files, active: new Map(), removed: new Set() };
  const processes = Array.from({ length: PROCESSES }, (_, index) => startProcess(shared, `p${index}`));
  /** Work under way, by what it is. */
  const running = new Set<Promise<void>>();
  return {
    ...shared,
    processes,
    taskIds: [] as string[],
    errors: [] as unknown[],
    /** Begins something in a process; its crash ends it. */
    begin(process: ModelProcess, body: () => Promise<unknown>): void {
      const work = Promise.race([body().then(() => {}), process.crashed]).catch((error: unknown) => {
        if (!isExpected(error)) this.errors.push(error);
      });
      running.add(work);
      void work.then(() => running.delete(work));
    },
    isIdle: () => running.size === 0,
    /** Ends a process in the middle of whatever it does, and starts another in its place. */
    async restart(index: number): Promise<void> {
      const old = processes[index];
      if (old === undefined) return;
      processes[index] = startProcess(shared, `${old.name}'`);
      await old.crash();
    },
    /**
     * Makes everything in the database that much older. Claims of processes that live are renewed, so they stay. No time
     * passes while a transaction that waits for its turn holds what would have to change.
     */
    async letPass(seconds: number): Promise<void> {
      const claims = processes.flatMap((process) => [...process.starting]);
      const limit = `select set_config('lock_timeout', '${LOCK_WAIT_MS}', true)`;
      try {
        await pool.query(`${limit}; ${agingOf(seconds, claims)}`);
      } catch (error) {
        if (!(error instanceof DatabaseError) || error.code !== LOCK_NOT_AVAILABLE) throw error;
      }
    },
  };
}

/** What createWorld makes. */
export type World = ReturnType<typeof createWorld>;
interface Shared {
  readonly pool: Pool;
  readonly schedule: Schedule;
  readonly upstream: ModelUpstream;
  readonly files: MemoryFiles;
  /** Who works on which job. */
  readonly active: Map<string, ScheduledProcess>;
  /** Bindings that are not configured right now. */
  readonly removed: Set<string>;
}

/** One process with its engine. */
export type ModelProcess = ReturnType<typeof startProcess>;

function startProcess(shared: Shared, name: string) {
  const process = createScheduledProcess(shared.pool, shared.schedule, name);
  const { database } = process;
  const queue = createModelQueue(process);
  const registry = registryWithout(shared, process);
  const gated = { ...shared.files, store: storing(shared, process) };
  const parts = {
    database,
    queue,
    bus,
    http: null as never,
    files: gated,
    logger,
    registry,
    eventRetentionDays: 0,
  };
  const planner = createStepPlanner(registry, { recipeGenerator: 'call' });
  const limits = {
    findGraceMs: 0,
    leaseSeconds: 20,
    claimStaleSeconds: 15,
    maxStoreTries: 2,
    unconfiguredSeconds: 20,
  };
  const worker = createWorkerParts({ ...parts, planner, limits });
  const service = createTaskService({ ...parts, planner });
  const crashed = Promise.withResolvers<void>();
  /** Steps whose start is under way here. */
  const starting = new Set<string>();
  return {
    name,
    database,
    worker,
    service,
    attempts: createRunningAttempts({ database, bus }),
    crashed: crashed.promise,
    starting,
    gate: process.gate,
    /** Works on the oldest due job of a queue; false when there is none, or no room for it. */
    async deliver(queueName: string): Promise<boolean> {
      const found = worker.queues.find(({ queue: each }) => each === queueName);
      // A process that started without the binding has no worker for its queue.
      const isServed = registry.all().some(({ id }) => startQueue(id) === queueName);
      if (found === undefined || (!isServed && queueName !== STORE_QUEUE)) return false;
      const { handler, slots } = found;
      if (slots.capacity !== undefined && (await slots.capacity()) <= 0) return false;
      const work = { queue: queueName, handler: remembering(starting, handler) };
      return deliverJob(shared, process, work);
    },
    async crash(): Promise<void> {
      starting.clear();
      crashed.resolve();
      await process.crash();
    },
  };
}

/** A handler that notes which steps it works on. */
function remembering(steps: Set<string>, handler: JobHandler): JobHandler {
  return async (job) => {
    const { taskId, step } = job.data as { taskId: string; step: number };
    steps.add(`${taskId}/${step}`);
    try {
      return await handler(job);
    } finally {
      steps.delete(`${taskId}/${step}`);
    }
  };
}

/** The bindings that are configured right now: the operator may take one away. */
function registryWithout({ upstream, removed }: Shared, process: ScheduledProcess): GeneratorRegistry {
  const bindings = BINDINGS.map((id): Binding => {
    const change = { concurrency: CONCURRENCY, attemptTimeoutSeconds: 100 };
    return testBinding(id, upstream.providersOf(process, id), 'http://127.0.0.1:1', change);
  });
  const current = () => registryOf(...bindings.filter(({ id }) => !removed.has(id)));
  return {
    bindingsFor: (...wanted) => current().bindingsFor(...wanted),
    byId: (id) => current().byId(id),
    all: () => current().all(),
    generators: (kind) => current().generators(kind),
    models: () => [],
    missing: () => ({}),
  };
}

function storing({ files }: Shared, process: ScheduledProcess) {
  return async (...file: Parameters<typeof files.store>) => {
    await process.gate('store file');
    const stored = await files.store(...file);
    await process.gate('file stored');
    return stored;
  };
}

/** What callers are told, and no fault of the engine. */
function isExpected(error: unknown): boolean {
  return error instanceof AppError && error.code !== 'INTERNAL';
}

const AGED = {
  'media.tasks': ['created_at', 'cancel_requested_at', 'started_at', 'ended_at'],
  'media.task_steps': ['waiting_since', 'started_at', 'ended_at'],
  'media.attempts': ['running_at', 'next_poll_at', 'watched_until', 'started_at', 'ended_at'],
  model_jobs: ['start_after'],
};

/** Rows that a transaction under way has locked stay as they are: waiting for it would stop the model's clock. */
function agingOf(seconds: number, claims: readonly string[]): string {
  const aging = (table: string, columns: readonly string[], which = 'true') => {
    const older = columns.map((column) => `${column} = ${column} - interval '${seconds} seconds'`);
    return `update ${table} set ${older.join(', ')}
      where ctid = any (array(select ctid from ${table} where ${which} for update skip locked))`;
  };
  const held = claims.map((claim) => `'${claim}'`).join(', ') || `''`;
  return [
    ...Object.entries(AGED).map(([table, columns]) => aging(table, columns)),
    aging('media.attempts', ['claimed_at'], `concat_ws('/', task_id, step) not in (${held})`),
  ].join('; ');
}
