import { toError } from '../../../../platform/errors.ts';
import type { EventBus } from '../../../../platform/events/event-bus.ts';
import type { HttpClient } from '../../../../platform/http/http-client.ts';
import type { Logger } from '../../../../platform/process/logger.ts';
import { createLoop } from '../../../../platform/process/loop.ts';
import type { Queue, QueueWorker } from '../../../../platform/queue/queue.ts';
import type { MediaDatabase } from '../../database/database.ts';
import type { FileService } from '../../files/files.ts';
import type { InputAddress } from '../../files/input-addresses.ts';
import { createProviderResources } from '../../files/provider-resources.ts';
import type { Binding, GeneratorRegistry } from '../../generators/bindings/binding.ts';
import { recipeOptionsOf, type RecipeGenerators } from '../../recipes/planner.ts';
import { defineTaskQueues, startQueue, STORE_QUEUE } from '../rules/queues.ts';
import { createAdvancer } from '../rules/transitions.ts';
import { createTransactor } from '../storage/transactor.ts';
import type { Engine, WorkerLimits } from './attempts/attempt-context.ts';
import { createPoller } from './progress/poller.ts';
import { createProgressWriter } from './progress/progress-writer.ts';
import { prune } from './pruner.ts';
import { createStoreHandler } from './results/store-worker.ts';
import { createCallRunner } from './start/call-runner.ts';
import { createRecovery } from './start/recovery.ts';
import { createStartWorker } from './start/start-worker.ts';

/** Does the work of tasks. Any number of processes may run one over the same database. */
export interface TaskWorker {
  start(): Promise<void>;
  /** Takes nothing new, gives what runs `graceSeconds`, and leaves the rest to be taken over. */
  stop(graceSeconds: number): Promise<void>;
}

export interface TaskWorkerOptions extends RecipeGenerators {
  readonly database: MediaDatabase;
  readonly queue: Queue;
  readonly bus: EventBus;
  readonly http: HttpClient;
  readonly files: FileService;
  readonly registry: GeneratorRegistry;
  readonly logger: Logger;
  /** Days an event log is kept after its task's end; 0 keeps for ever. */
  readonly eventRetentionDays: number;
  /** Fewest attempts per step (default 3). */
  readonly maxAttempts?: number;
  /** Seconds after a step's first start in which further attempts may begin (default 3,600). */
  readonly budgetSeconds?: number;
  /** Where the upstream of a start may tell that something happened (default: nowhere). */
  readonly noticeAddress?: (binding: Binding, reference: string) => string | undefined;
  /** Where the upstream of a binding can fetch an input file (default: nowhere, so that it gets bytes). */
  readonly inputAddress?: InputAddress;
  /** Results stored at once in this process (default 4). */
  readonly storeSlots?: number;
  readonly limits?: Partial<WorkerLimits>;
}

const DEFAULT_LIMITS: WorkerLimits = {
  claimStaleSeconds: 15,
  startTimeoutMs: 60_000,
  statusTimeoutMs: 15_000,
  leaseSeconds: 20,
  pollTickMs: 200,
  maxPolls: 128,
  maxPollFailures: 8,
  findGraceMs: 1_500,
  unknownBudgetSeconds: 600,
  maxStoreTries: 8,
  storePauseSeconds: 60,
  storeOutageSeconds: 86_400,
  heldOutageSeconds: 3_600,
  maxInputBytes: 64 * 1024 * 1024,
  maxOutputBytes: 1024 * 1024 * 1024,
  inputsTimeoutMs: 300_000,
  resultTimeoutMs: 1_800_000,
  downloadTimeoutMs: 30_000,
};

/** Makes the worker of this process; it stands still until it is started. */
export function createTaskWorker(options: TaskWorkerOptions): TaskWorker {
  const { database, queue, registry, logger } = options;
  const engine = engineOf(options);
  const progress = createProgressWriter({ database, transactor: engine.transactor, logger });
  const poller = createPoller(engine, progress);
  const recovery = createRecovery(engine);
  const calls = createCallRunner(engine);
  const sweeper = createLoop({
    tick: () => recovery.sweep(),
    everyMs: (engine.limits.claimStaleSeconds * 1000) / 3,
    logger,
    name: 'recovery',
  });
  const pruner = createLoop({ tick: () => prune(options), everyMs: 60_000, logger, name: 'pruner' });
  const workers: QueueWorker[] = [];

  return {
    async start() {
      await defineTaskQueues(queue, registry);
      for (const binding of registry.all()) {
        const { handler, capacity } = createStartWorker({ engine, recovery, calls }, binding);
        workers.push(
          await queue.work(startQueue(binding.id), { slots: binding.concurrency, capacity }, handler),
        );
      }
      workers.push(
        await queue.work(STORE_QUEUE, { slots: options.storeSlots ?? 4 }, createStoreHandler(engine)),
      );
      for (const loop of [poller, sweeper, pruner]) loop.start();
    },
    async stop(graceSeconds) {
      await Promise.all([sweeper.stop(), pruner.stop()]);
      const stops = [...workers.map((worker) => worker.stop(graceSeconds)), poller.stop(graceSeconds)];
      for (const result of await Promise.allSettled(stops)) {
        if (result.status === 'rejected')
          logger.error({ error: toError(result.reason) }, 'a worker did not stop');
      }
      calls.close();
      await progress.close();
    },
  };
}

function engineOf(options: TaskWorkerOptions): Engine {
  const { database, queue, bus, http, files, registry, logger } = options;
  return {
    database,
    queue,
    bus,
    http,
    files,
    resources: createProviderResources(database),
    registry,
    logger,
    noticeAddress: options.noticeAddress ?? (() => undefined),
    inputAddress: options.inputAddress ?? (() => Promise.resolve(null)),
    transactor: createTransactor({ database, queue, bus }),
    advance: createAdvancer({
      registry,
      recipe: recipeOptionsOf(registry, options),
      maxAttempts: options.maxAttempts ?? 3,
      budgetSeconds: options.budgetSeconds ?? 3_600,
    }),
    limits: { ...DEFAULT_LIMITS, ...options.limits },
  };
}
