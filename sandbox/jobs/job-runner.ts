import { toError } from '../../platform/errors.ts';
import type { Logger } from '../../platform/process/logger.ts';
import { createJobQueue, type JobQueue, type Slot, createWaiters, type Waiters } from './job-queue.ts';
import { hasEnded, withoutWords, type Job } from './job.ts';
import type { Journal } from './journal.ts';
import type { LatencyProfile } from './latency-profile.ts';
import { runJob, type Perform } from './run-job.ts';

/** Runs one wire's jobs in order, with its latency. Each step that must survive a crash is written to the journal. */
export interface JobRunner {
  /** Accepts a job: it is in the journal before this resolves. Null when the queue is full. */
  submit(job: NewJob): Promise<Job | null>;
  /** The job, unless the stand-in has forgotten it or another wire has it. */
  get(id: string): Job | null;
  /** Every job of this wire that is not forgotten, newest first. */
  list(): readonly Job[];
  /** The number of waiting jobs. */
  queueLength(): number;
  /** 0 to 100; moves only while the job runs. */
  readProgress(job: Job): number;
  /** Whether the running job has a preview. */
  hasPreview(id: string): boolean;
  /** Resolves with the job once it has ended; rejects when the signal fires first or there is no such job. */
  ended(id: string, signal: AbortSignal): Promise<Job>;
  /** The same for a call that is answered with the job and asks for it no more: the words are not kept after its end. */
  answered(id: string, signal: AbortSignal): Promise<Job>;
  /** Stops a job. False when it had ended already. */
  cancel(id: string): Promise<boolean>;
  /** Makes the job unknown to callers, and drops its words. */
  forget(id: string): Promise<void>;
  /** Adds a listener that is called at each visible change of a job. */
  onChange(listener: (job: Job) => void): void;
  /** Runs the open jobs of an earlier process. */
  resume(): void;
  /** Stops working; open jobs stay open in the journal. resume() goes on. */
  stop(): Promise<void>;
}

type NewJob = Pick<Job, 'id' | 'operation' | 'reference' | 'input' | 'fault'>;

export interface JobRunnerOptions {
  readonly wire: string;
  readonly journal: Journal;
  /** Read at each step, so that a change takes effect at once. */
  readonly latency: () => LatencyProfile;
  /** Does the work. Must obey the signal. */
  readonly perform: Perform;
  /** The wire's messages for a job that was refused half-way for its content, and for one that failed. */
  readonly words: { readonly moderate: string; readonly fail: string };
  readonly logger: Logger;
}

/** The state of a runner. */
interface Runner extends JobRunnerOptions {
  readonly queue: JobQueue;
  readonly waiters: Waiters;
  readonly listeners: ((job: Job) => void)[];
  /** Jobs of calls that wait for them. */
  readonly calls: Set<string>;
  isStopped: boolean;
}

/** Creates the runner of one wire. Jobs of an earlier process do not run before resume(). */
export function createJobRunner(options: JobRunnerOptions): JobRunner {
  const queue = createJobQueue({ latency: options.latency, run: (id, slot) => runInSlot(runner, id, slot) });
  const runner: Runner = {
    ...options,
    queue,
    waiters: createWaiters(),
    listeners: [],
    calls: new Set(),
    isStopped: false,
  };
  const { journal, latency } = options;
  return {
    submit: (job) => submit(runner, job),
    get: (id) => get(runner, id),
    list: () =>
      journal
        .all()
        .filter((job) => isKnown(runner, job))
        .toReversed(),
    queueLength: () => Math.max(0, queue.size() - latency().concurrency),
    readProgress: (job) => (job.state === 'finished' ? 100 : (queue.findSlot(job.id)?.progress ?? 0)),
    hasPreview: (id) => queue.findSlot(id)?.hasPreview ?? false,
    ended: (id, signal) => ended(runner, id, signal),
    async answered(id, signal) {
      runner.calls.add(id);
      const job = await ended(runner, id, signal);
      // One that had ended before was written with its words.
      if (runner.calls.delete(id)) await runner.journal.save(withoutWords(job));
      return job;
    },
    cancel: (id) => cancel(runner, id),
    forget: (id) => forget(runner, id),
    onChange: (listener) => void runner.listeners.push(listener),
    resume() {
      runner.isStopped = false;
      for (const job of journal.all()) {
        if (isKnown(runner, job) && !hasEnded(job)) queue.enqueue(job.id);
      }
    },
    async stop() {
      runner.isStopped = true;
      await queue.stop();
    },
  };
}

function isKnown(runner: Runner, job: Job): boolean {
  return job.wire === runner.wire && !job.isForgotten;
}

function get(runner: Runner, id: string): Job | null {
  const job = runner.journal.get(id);
  return job !== null && isKnown(runner, job) ? job : null;
}

async function submit(runner: Runner, job: NewJob): Promise<Job | null> {
  if (runner.isStopped) throw new Error('the stand-in is stopping');
  const { concurrency, queueSize } = runner.latency();
  if (runner.queue.size() >= concurrency + queueSize) return null;
  const accepted = newlyAccepted(job, runner.wire);
  await runner.journal.save(accepted);
  runner.queue.enqueue(job.id);
  return accepted;
}

async function ended(runner: Runner, id: string, signal: AbortSignal): Promise<Job> {
  const job = get(runner, id);
  if (job === null) throw new Error(`no job ${id}`);
  return hasEnded(job) ? job : runner.waiters.wait(id, signal);
}

async function cancel(runner: Runner, id: string): Promise<boolean> {
  const job = get(runner, id);
  if (job === null || hasEnded(job)) return false;
  runner.queue.remove(id);
  await update(runner, id, { state: 'cancelled', endedAt: Date.now() });
  return runner.journal.get(id)?.state === 'cancelled';
}

async function forget(runner: Runner, id: string): Promise<void> {
  const job = get(runner, id);
  if (job === null) return;
  runner.queue.remove(id);
  await runner.journal.save({ ...withoutWords(job), isForgotten: true });
}

/** Writes a change to the journal and notifies listeners, unless the job has ended or the runner stops. */
async function update(runner: Runner, id: string, change: Partial<Job>): Promise<void> {
  const job = get(runner, id);
  if (job === null || hasEnded(job) || runner.isStopped) return;
  const next = { ...job, ...change };
  const isLast = hasEnded(next) && runner.calls.delete(id);
  try {
    await runner.journal.save(isLast ? withoutWords(next) : next);
  } finally {
    // Also when it can't be written: whoever waits for the end would wait for ever.
    tell(runner, next);
  }
}

function tell(runner: Runner, job: Job): void {
  for (const listener of runner.listeners) listener(job);
  if (hasEnded(job)) runner.waiters.ended(job);
}

/** Runs one job to its end and journals that; never rejects. */
async function runInSlot(runner: Runner, id: string, slot: Slot): Promise<void> {
  const { signal } = slot.abort;
  try {
    await update(runner, id, { state: 'running', startedAt: Date.now() });
    const job = get(runner, id);
    if (job === null || signal.aborted) return;
    const outcome = await runJob({
      job,
      signal,
      latency: runner.latency,
      perform: runner.perform,
      onPreview() {
        slot.hasPreview = true;
      },
      progress(percent) {
        slot.progress = percent;
        tell(runner, runner.journal.get(id) ?? job);
      },
    });
    const end: Partial<Job> =
      'result' in outcome
        ? { state: 'finished', result: outcome.result }
        : { state: 'failed', failure: runner.words[outcome.fault] };
    await update(runner, id, { ...end, endedAt: Date.now() });
  } catch (thrown) {
    if (signal.aborted) return; // cancelled, forgotten or stopping: written by the code that did it
    await fail(runner, id, toError(thrown));
  }
}

async function fail(runner: Runner, id: string, error: Error): Promise<void> {
  const { logger, wire } = runner;
  logger.warn({ wire, job: id, error }, 'a sandbox job failed');
  try {
    await update(runner, id, { state: 'failed', failure: error.message, endedAt: Date.now() });
  } catch (again) {
    logger.error({ wire, job: id, error: toError(again) }, 'and that could not be journalled');
  }
}

function newlyAccepted(job: NewJob, wire: string): Job {
  return {
    ...job,
    wire,
    state: 'queued',
    submittedAt: Date.now(),
    startedAt: null,
    endedAt: null,
    result: null,
    failure: null,
    isForgotten: false,
  };
}
