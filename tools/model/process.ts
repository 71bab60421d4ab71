import type { EventBus } from '../../platform/events/event-bus.ts';
import type { Logger } from '../../platform/process/logger.ts';
import type { JobHandler } from '../../platform/queue/queue.ts';
import type { Binding, GeneratorRegistry } from '../../subgraphs/media/generators/bindings/binding.ts';
import { createStepPlanner } from '../../subgraphs/media/recipes/planner.ts';
import { createTaskService } from '../../subgraphs/media/tasks/rules/service.ts';
import { createRunningAttempts } from '../../subgraphs/media/tasks/running-attempts.ts';
import { toRegistry } from '../../subgraphs/media/tasks/testing/engine.ts';
import type { MemoryFiles } from '../../subgraphs/media/tasks/testing/memory-files.ts';
import { testBinding } from '../../subgraphs/media/tasks/testing/provider.ts';
import { createWorkerParts } from '../../subgraphs/media/tasks/work/worker.ts';
import { createModelCommerce } from './model-commerce.ts';
import type { ModelPayments } from './model-payments.ts';
import { createModelQueue, deliverJob, type DeliveryOptions, type ModelWork } from './model-queue.ts';
import { concurrencyFor, type ModelUpstream } from './model-upstream.ts';
import { createScheduledProcess, type Schedule, type ScheduledProcess } from './scheduled-process.ts';

/** Every binding of the model. `test` has two, `call` answers on the spot, at `blind` no start can be looked up. */
export const BINDINGS = ['test#0', 'test#1', 'call#0', 'blind#0'];

/** What stands in `removed` while the two bindings of `test` have each other's place. */
export const ORDER = 'order';

/** What all processes of a run share. */
export interface Shared extends DeliveryOptions {
  readonly schedule: Schedule;
  readonly upstream: ModelUpstream;
  readonly payments: ModelPayments;
  readonly files: MemoryFiles;
  readonly logger: Logger;
  /** Bindings that are not configured right now, and ORDER. */
  readonly removed: Set<string>;
  /** How long work may wait for its start, in processes that start from now on (QUEUE_MAX_HOURS). */
  readonly patience: { hours: number };
  /** Whether the media subgraph can't be reached. */
  readonly media: { isUnavailable: boolean };
  /** Begins something that ends with the process. */
  begin(crashed: Promise<void>, body: () => Promise<unknown>): void;
}

const bus: EventBus = {
  publish: () => {},
  listen: () => () => {},
  onGap: () => () => {},
  listenerCount: () => 0,
  close: async () => {},
};
const LIMITS = {
  findGraceMs: 0,
  leaseSeconds: 20,
  claimStaleSeconds: 15,
  maxStoreTries: 2,
  storePauseSeconds: 0,
  unconfiguredSeconds: 20,
};

/** One process with its engine. */
export type ModelProcess = ReturnType<typeof startProcess>;

/** Starts a process with the bindings of this moment. */
export function startProcess(shared: Shared, name: string) {
  const process = createScheduledProcess(shared.pool, shared.schedule, name);
  const { worker, service, commerce, begin, crashed } = createEngines(shared, process);
  const queues: readonly ModelWork[] = [
    ...worker.queues.map(({ slots: { capacity }, ...work }) => ({ ...work, capacity })),
    ...commerce.queues,
  ];
  /** Steps whose start is under way here: one that was delivered twice stands here twice. */
  const starting: string[] = [];
  return {
    name,
    worker,
    service,
    commerce,
    attempts: createRunningAttempts({ database: process.database, bus }),
    starting,
    begin,
    /**
     * Works on the oldest due job of a queue; false when there is none, or no room or no worker for it. `isAgain`: though another
     * process works on it, as when its heartbeat was late.
     */
    async deliver(queueName: string, isAgain = false): Promise<boolean> {
      const found = queues.find(({ queue }) => queue === queueName);
      // A process that started without the binding has no worker for its queue.
      if (found === undefined) return false;
      const handler = remembering(starting, found.handler);
      return deliverJob(shared, process, { ...found, handler, isAgain });
    },
    scheduled: process,
    async crash(): Promise<void> {
      starting.length = 0;
      crashed.resolve();
      await process.crash();
    },
  };
}

function createEngines(shared: Shared, process: ScheduledProcess) {
  const { database } = process;
  const queue = createModelQueue(process);
  const registry = registryWithout(shared, process);
  const files = { ...shared.files, store: storing(shared, process) };
  const planner = createStepPlanner(registry, { recipeGenerator: 'test' });
  const parts = {
    database,
    queue,
    bus,
    http: null as never,
    files,
    logger: shared.logger,
    registry,
    planner,
  };
  const service = createTaskService(parts);
  const crashed = Promise.withResolvers<void>();
  const begin = (body: () => Promise<unknown>): void => shared.begin(crashed.promise, body);
  const { payments } = shared;
  const queueMaxHours = shared.patience.hours;
  return {
    crashed,
    begin,
    service,
    worker: createWorkerParts({ ...parts, eventRetentionDays: 0, queueMaxHours, limits: LIMITS }),
    commerce: createModelCommerce({
      process,
      logger: shared.logger,
      queue,
      bus,
      service,
      payments,
      queueMaxHours,
      isMediaAway: () => shared.media.isUnavailable,
      begin,
    }),
  };
}

/** A handler that notes which steps it works on. */
function remembering(steps: string[], handler: JobHandler): JobHandler {
  return async (job) => {
    const { taskId, step } = job.data as { taskId: string; step: number };
    const name = `${taskId}/${step}`;
    steps.push(name);
    try {
      return await handler(job);
    } finally {
      const place = steps.indexOf(name);
      // After a crash the list is empty.
      if (place !== -1) steps.splice(place, 1);
    }
  };
}

/** The bindings that were configured when the process started: the operator may take one away, and change their order. */
function registryWithout({ upstream, removed }: Shared, process: ScheduledProcess): GeneratorRegistry {
  const swapped: Readonly<Record<string, string>> = { 'test#0': 'test#1', 'test#1': 'test#0' };
  const configured = BINDINGS.filter((id) => !removed.has(id)).map((id): Binding => {
    const place = (removed.has(ORDER) ? swapped[id] : undefined) ?? id;
    const change = {
      name: id.replace('#', ':'),
      concurrency: concurrencyFor(id),
      attemptTimeoutSeconds: 100,
    };
    const url = `http://127.0.0.1:1/${id.replace('#', '/')}`;
    return testBinding(place, upstream.makeProvider(process, id), url, change);
  });
  return toRegistry(...configured.toSorted((before, after) => (before.id < after.id ? -1 : 1)));
}

function storing({ files }: Shared, process: ScheduledProcess) {
  return async (...file: Parameters<typeof files.store>) => {
    await process.gate('store file');
    const stored = await files.store(...file);
    await process.gate('file stored');
    return stored;
  };
}
