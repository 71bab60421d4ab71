import type { Json } from '../../../platform/json.ts';
import type { Job, JobHandler, JobOutcome, Queue, QueueWorker } from '../../../platform/queue/queue.ts';
import { cancelQueue, endedQueue, startQueue } from './lifecycle.ts';
import { sweepExecutions, type SweepDependencies } from './sweep.ts';

/** The dependencies of the worker. */
export interface ExecutionWorkerDependencies extends SweepDependencies {
  /** Milliseconds between sweeps for executions that were lost or whose end was missed (default 60,000). */
  readonly sweepEveryMs?: number;
}

/** The background work of executions: backstop starts, ends of tasks, and a slow sweep for what both missed. */
export interface ExecutionWorker {
  start(): Promise<void>;
  /** No new work; running jobs get this long, the rest goes back to the queue. */
  stop(graceSeconds: number): Promise<void>;
}

/** Seconds one start may take before the job comes back. */
const startSeconds = 20;
/** Seconds from a refused start to the last look at it: longer than media works on a start whose caller is gone. */
const REFUSED_AGAIN_SECONDS = 60;

interface ExecutionQueue {
  readonly queue: string;
  readonly slots: number;
  readonly handler: JobHandler;
}

/** The queues that the worker works; the model of the engine delivers their jobs one by one. */
export function executionQueues(dependencies: SweepDependencies): readonly ExecutionQueue[] {
  return [
    { queue: startQueue, slots: 20, handler: (job) => startJob(dependencies, job) },
    { queue: endedQueue, slots: 20, handler: (job) => endedJob(dependencies, job) },
    { queue: cancelQueue, slots: 2, handler: (job) => cancelJob(dependencies, job) },
  ];
}

/** Makes the worker; nothing runs before start(). */
export function createExecutionWorker(dependencies: ExecutionWorkerDependencies): ExecutionWorker {
  const { queue, sweepEveryMs = 60_000 } = dependencies;
  let workers: readonly QueueWorker[] = [];
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<void> | null = null;
  return {
    async start() {
      await defineQueues(queue);
      workers = await Promise.all(
        executionQueues(dependencies).map(({ queue: name, slots, handler }) =>
          queue.work(name, { slots }, handler),
        ),
      );
      timer = setInterval(() => {
        // One at a time: a slow media service must not pile up sweeps.
        sweeping ??= sweepExecutions(dependencies, stopping.signal).finally(() => {
          sweeping = null;
        });
      }, sweepEveryMs);
    },
    async stop(graceSeconds) {
      clearInterval(timer);
      stopping.abort();
      await Promise.all(workers.map((worker) => worker.stop(graceSeconds)));
      await sweeping;
    },
  };
}

/** The queues must exist before anything is enqueued: by executeTemplate here, by the end of a task in media. */
async function defineQueues(queue: Queue): Promise<void> {
  await queue.define([startQueue, endedQueue, cancelQueue], {
    retryLimit: 50,
    retryDelaySeconds: 1,
    retryDelayMaxSeconds: 60,
  });
}

async function startJob({ store, lifecycle }: SweepDependencies, job: Job): Promise<JobOutcome> {
  const id = readText(job.data, 'executionId');
  const [execution] = id === null ? [] : await store.byIds([id]);
  if (execution === undefined) return;
  const signal = AbortSignal.any([job.signal, AbortSignal.timeout(startSeconds * 1000)]);
  const outcome = await lifecycle.start(execution, signal);
  // An earlier start may still be on its way in media: the next try cancels what became of it.
  if (outcome === 'refused') return { againInSeconds: REFUSED_AGAIN_SECONDS };
  // Not a failure of the job: media's queue is full, or media is unavailable.
  if (outcome === 'later') return { againInSeconds: pauseAfter(execution.createdAt) };
}

/** Seconds to the next try: a tenth of the age, between 2 and 60. */
function pauseAfter(createdAt: Date): number {
  return Math.min(60, Math.max(2, Math.round((Date.now() - createdAt.getTime()) / 10_000)));
}

async function endedJob({ store, lifecycle }: SweepDependencies, job: Job): Promise<JobOutcome> {
  const taskId = readText(job.data, 'taskId');
  const [execution] = taskId === null ? [] : await store.byTaskIds([taskId]);
  if (execution === undefined) return;
  const outcome = await lifecycle.settle(execution);
  if (outcome === 'open') return { againInSeconds: 2 };
}

async function cancelJob({ store, lifecycle }: SweepDependencies, job: Job): Promise<void> {
  const id = readText(job.data, 'executionId');
  const [execution] = id === null ? [] : await store.byIds([id]);
  if (execution !== undefined) await lifecycle.cancel(execution);
}

function readText(data: Json, name: string): string | null {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return null;
  const value: unknown = (data as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'string' ? value : null;
}
