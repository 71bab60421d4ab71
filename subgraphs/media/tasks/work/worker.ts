import { toError } from '../../../../platform/errors.ts';
import type { EventBus } from '../../../../platform/events/event-bus.ts';
import type { HttpClient } from '../../../../platform/http/http-client.ts';
import type { Logger } from '../../../../platform/process/logger.ts';
import { createLoop } from '../../../../platform/process/loop.ts';
import type { JobHandler, Queue, QueueWorker, WorkOptions } from '../../../../platform/queue/queue.ts';
import { noTracer, type Tracer } from '../../../../platform/tracing/span.ts';
import type { MediaDatabase } from '../../database/database.ts';
import type { StepPlanner } from '../../domain/task.ts';
import type { FileService } from '../../files/files.ts';
import type { InputAddress } from '../../files/input-addresses.ts';
import { createProviderResources } from '../../files/provider-resources.ts';
import type { Binding, GeneratorRegistry } from '../../generators/bindings/binding.ts';
import type { BudgetWarnings } from '../accounting/settle.ts';
import type { WorkObserver } from '../accounting/work-observer.ts';
import { eraseOwners } from '../removal/erase-owner.ts';
import { createErasureHandler, ERASE_QUEUE } from '../removal/remove.ts';
import type { EndListener } from '../rules/hooks.ts';
import { defineTaskQueues, startQueue, STORE_QUEUE } from '../rules/queues.ts';
import { createTransitions } from '../rules/transitions.ts';
import { createTransactor } from '../storage/transactor.ts';
import {
  DEFAULT_LIMITS,
  DEFAULT_SLOTS,
  type WorkerLimits,
  type WorkerSlots,
  type WorkerDependencies,
} from './attempts/dependencies.ts';
import { createPoller } from './progress/poller.ts';
import { createProgressWriter } from './progress/progress-writer.ts';
import { createUsualDurations } from './progress/usual-durations.ts';
import { prune } from './pruner.ts';
import { createFinisher } from './results/finish.ts';
import { createStoreHandler } from './results/store-worker.ts';
import { createCallRunner } from './start/call-runner.ts';
import { showResumed } from './start/open-attempt.ts';
import { createRecovery } from './start/recovery.ts';
import { createStartWorker } from './start/start-worker.ts';
import { sweepSteps } from './sweep.ts';

/** Does the work of tasks. Any number of processes may run one over the same database. */
export type TaskWorker = ReturnType<typeof createTaskWorker>;

/** Reports bindings that were paused and get work again. */
interface ResumeNews {
  onResume(listener: (bindings: readonly string[]) => void): () => void;
}

export interface TaskWorkerOptions {
  readonly database: MediaDatabase;
  readonly queue: Queue;
  readonly bus: EventBus;
  readonly http: HttpClient;
  readonly files: FileService;
  readonly registry: GeneratorRegistry;
  readonly planner: StepPlanner;
  /** Tells when a paused binding gets work again (default: what waits is looked at by the clock alone). */
  readonly bindingPauses?: ResumeNews | undefined;
  readonly endListener?: EndListener | undefined;
  /** Receives every end after its commit (default: nobody). */
  readonly observer?: WorkObserver | undefined;
  /** Warns of budgets that have passed their soft amount (default: nobody). */
  readonly budgetWarnings?: BudgetWarnings | undefined;
  readonly logger: Logger;
  /** Of this process (default: nothing is traced). */
  readonly tracer?: Tracer | undefined;
  /** Days an event log is kept after its task's end; 0 keeps it forever. */
  readonly eventRetentionDays: number;
  /** Days a task is kept after its end, with the files that it made; 0 (default) keeps it forever. */
  readonly taskRetentionDays?: number | undefined;
  /** Days that prompts and texts are kept after the end of their task; 0 (default) keeps them as long as it. */
  readonly promptRetentionDays?: number | undefined;
  /** Hours that a step may wait for its start before its task ends as failed (default 24). */
  readonly queueMaxHours?: number;
  /** Fewest attempts per step that may have cost something (default 3). */
  readonly maxAttempts?: number;
  /** Where the upstream of a start may send webhooks (default: nowhere). */
  readonly webhookAddress?: (binding: Binding, reference: string) => string | undefined;
  /** Where the upstream of a binding can fetch an input file (default: nowhere, so that it gets bytes). */
  readonly inputAddress?: InputAddress;
  /** What this process does at once. */
  readonly workerSlots?: Partial<WorkerSlots> | undefined;
  readonly limits?: Partial<WorkerLimits>;
}

interface WorkedQueue {
  readonly queue: string;
  readonly slots: WorkOptions;
  readonly handler: JobHandler;
}

/** The parts of a worker, which its loops and queues run; the model of the engine runs them one by one. */
export function createWorkerParts(options: TaskWorkerOptions) {
  const leaving = new AbortController();
  const dependencies = { ...createDependencies(options), leaving: leaving.signal };
  const { slots, unstored } = dependencies;
  const starts = options.registry.all().map((binding) => {
    const { handler, capacity } = createStartWorker(dependencies, binding);
    const most = Math.min(binding.concurrency, slots.start ?? Infinity);
    return { queue: startQueue(binding.id), slots: { slots: most, capacity }, handler };
  });
  const store = createStoreHandler(dependencies);
  const handler: JobHandler = async (job) => {
    const outcome = await store(job);
    unstored.fewer();
    return outcome;
  };
  const queues: readonly WorkedQueue[] = [
    ...starts,
    { queue: STORE_QUEUE, slots: { slots: slots.store }, handler },
    {
      queue: ERASE_QUEUE,
      slots: { slots: ERASED_UPSTREAM_AT_ONCE },
      handler: createErasureHandler(options.registry),
    },
  ];
  return {
    ...dependencies,
    leave: () => leaving.abort(),
    poller: createPoller(dependencies),
    /** Looks after steps that only a job moves. */
    sweep: () => sweepSteps(dependencies),
    queues,
  };
}

/** Seconds for status requests that are under way when the worker stops; others ask again. */
const STATUS_GRACE_SECONDS = 2;

/** Requests at once that delete what providers keep. */
const ERASED_UPSTREAM_AT_ONCE = 2;

/** Between looks for owners to be erased, and how many of their tasks or files go at once. */
const ERASURE_PAUSE_MS = 5_000;
const ERASED_AT_ONCE = 200;

/** Makes the worker of this process; it does nothing until it is started. */
export function createTaskWorker(options: TaskWorkerOptions) {
  const { queue, logger } = options;
  const parts = createWorkerParts(options);
  const { limits, recovery, calls, progress, poller, sweep, queues, leave, leaving } = parts;
  const removal = { ...options, stopping: leaving };
  const every = (name: string, everyMs: number, tick: () => Promise<void>) =>
    createLoop({ tick, everyMs, logger, name });
  const loops = [
    every('recovery', (limits.claimStaleSeconds * 1000) / 3, () => recovery.sweep()),
    every('sweep', limits.sweepPauseMs, sweep),
    every('pruner', 60_000, () => prune(removal)),
    every('erasures', ERASURE_PAUSE_MS, () => eraseOwners(removal, ERASED_AT_ONCE)),
  ];
  const workers = new Map<string, QueueWorker>();
  let stopHearing: (() => void) | undefined;

  return {
    async start(): Promise<void> {
      await defineTaskQueues(options);
      for (const { queue: name, slots, handler } of queues) {
        workers.set(name, await queue.work(name, slots, handler));
      }
      stopHearing = options.bindingPauses?.onResume((resumed) => resumeStarts(parts, workers, resumed));
      for (const loop of [poller, ...loops]) loop.start();
    },
    /**
     * Takes no new jobs and releases at once what another worker can take up. What it can not, starts that were sent
     * and calls that answer with the result, gets `graceSeconds`; what is still open then is broken off.
     */
    async stop(graceSeconds: number): Promise<void> {
      leave();
      stopHearing?.();
      if (calls.size > 0) {
        logger.info({ calls: calls.size, graceSeconds }, 'finishing calls that no other worker can take up');
      }
      const stops = [
        ...loops.map((loop) => loop.stop()),
        ...[...workers].map(([name, worker]) => worker.stop(name === STORE_QUEUE ? 0 : graceSeconds)),
        poller.stop(Math.min(graceSeconds, STATUS_GRACE_SECONDS)),
      ];
      for (const result of await Promise.allSettled(stops)) {
        if (result.status === 'rejected')
          logger.error({ error: toError(result.reason) }, 'a worker did not stop');
      }
      if (calls.size > 0) {
        const reason = 'calls were broken off: the next worker says what became of them';
        logger.warn({ calls: calls.size }, reason);
      }
      calls.close();
      await progress.close();
    },
  };
}

/** Starts what waits for resumed bindings, at any binding of their generators; what has no slot yet is called queued. */
function resumeStarts(
  parts: Pick<WorkerDependencies, 'registry' | 'logger' | 'transactor'>,
  workers: ReadonlyMap<string, QueueWorker>,
  resumed: readonly string[],
): void {
  const { registry, logger } = parts;
  const bindings = resumed.flatMap((name) => registry.byName(name) ?? []);
  const generators = new Set(bindings.map(({ generator }) => generator));
  for (const { id, name } of registry.all().filter(({ generator }) => generators.has(generator))) {
    workers
      .get(startQueue(id))
      ?.hasten()
      .catch((thrown: unknown) => {
        logger.warn({ error: toError(thrown), binding: name }, 'what waits here is not hastened');
      });
  }
  const ids = bindings.map(({ id }) => id);
  showResumed(parts, ids).catch((thrown: unknown) => {
    logger.warn({ error: toError(thrown), bindings: resumed }, 'what waits here is still called paused');
  });
}

/** The bindings whose starts wait until some of their results are stored: this worker wakes them then. */
function createUnstored(queue: Queue) {
  const waiting = new Set<string>();
  return {
    wait: (bindingId: string): void => void waiting.add(bindingId),
    fewer(): void {
      for (const id of waiting) queue.freed(startQueue(id));
      waiting.clear();
    },
  };
}

/** What the parts of the worker work with; each takes what it names. */
function createDependencies(options: TaskWorkerOptions) {
  const { database, logger } = options;
  const transactor = createTransactor(options);
  const base = {
    ...options,
    tracer: options.tracer ?? noTracer,
    queueMaxHours: options.queueMaxHours ?? 24,
    webhookAddress: options.webhookAddress ?? (() => undefined),
    inputAddress: options.inputAddress ?? (() => Promise.resolve(null)),
    resources: createProviderResources(database),
    transactor,
    transitions: createTransitions({ maxAttempts: 3, ...options }),
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    slots: { ...DEFAULT_SLOTS, ...options.workerSlots },
    unstored: createUnstored(options.queue),
    progress: createProgressWriter({ database, transactor, logger }),
    durations: createUsualDurations(),
  };
  const whole = { ...base, finishAttempt: createFinisher(base) };
  return { ...whole, recovery: createRecovery(whole), calls: createCallRunner(whole) };
}
