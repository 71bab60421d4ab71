import pTimeout from 'p-timeout';

import { AppError, toError } from '../errors.ts';
import type { Logger } from '../process/logger.ts';
import type { ClaimedJob } from './claim.ts';
import type { Claim, ClaimedJobs, Settlement } from './claimed-jobs.ts';
import type { JobHandler, JobOutcome } from './queue.ts';
import { createSettlementWriter, type SettlementWriter } from './settlement-writer.ts';

export interface RunningJobsOptions {
  readonly queue: string;
  readonly handler: JobHandler;
  readonly claimed: ClaimedJobs;
  readonly logger: Logger;
  /** A slot is free again. */
  readonly onFree: () => void;
}

/** Time for handlers to react to their signal before their jobs are released. */
const WIND_DOWN_MS = 1000;
/** Time for releasing jobs when the database does not answer. */
const RELEASE_DELAY_MS = 3000;
/** A handler that runs longer hangs: its lease is left to end. */
const LONGEST_RUN_MS = 12 * 3_600_000;
/** Longest stored reason of a failure, in characters. */
const MAX_REASON_LENGTH = 2000;

interface Entry {
  readonly claim: Claim;
  readonly abort: AbortController;
  readonly begunAt: number;
  /** Lost or released: the handler's outcome does not count any more. */
  gone: boolean;
  /** The handler has ended; its outcome is being written. */
  settling: boolean;
  /** Comes back at once, however long its handler puts it off. */
  hastened: boolean;
}

interface State extends RunningJobsOptions {
  readonly writer: SettlementWriter;
  readonly entries: Map<Entry, Promise<void>>;
  stopping: boolean;
}

/** The claimed jobs of one worker: each is handled, kept by extending its lease, and settled. */
export function createRunningJobs(options: RunningJobsOptions) {
  const writer = createSettlementWriter(options.queue, options.claimed, options.logger);
  const state: State = { ...options, writer, entries: new Map(), stopping: false };
  return {
    /** Number of occupied slots. */
    get size() {
      return state.entries.size;
    },
    begin: (job: ClaimedJob) => begin(state, job),
    /** What runs now and is put off by its handler runs again at once instead. Resolves when what ends already is written. */
    async hasten() {
      for (const entry of state.entries.keys()) entry.hastened = true;
      await Promise.all([...state.entries].filter(([{ settling }]) => settling).map(([, done]) => done));
    },
    /** Extends the leases, and aborts the handlers of jobs that are not ours any more. */
    extend: () => extend(state),
    /** Waits for the jobs, then aborts their handlers, then releases the rest. Returns how many did not end in time. */
    finish: (graceMs: number) => finish(state, graceMs),
  };
}

function begin(state: State, job: ClaimedJob): void {
  const claim = { id: job.id, claims: job.claims };
  const flags = { gone: false, settling: false, hastened: false };
  const entry: Entry = { claim, abort: new AbortController(), begunAt: Date.now(), ...flags };
  // Jobs that arrive while we stop are released unseen.
  const work = state.stopping ? settle(state, entry, { kind: 'released' }) : handle(state, entry, job);
  const done = work.finally(() => {
    state.entries.delete(entry);
    state.onFree();
  });
  state.entries.set(entry, done);
}

async function handle(state: State, entry: Entry, job: ClaimedJob): Promise<void> {
  const { id, retries: retryCount } = job;
  const { signal } = entry.abort;
  let settlement: Settlement;
  try {
    settlement = toSettlement(await state.handler({ id, data: job.data, retryCount, signal }));
  } catch (thrown) {
    settlement = afterError(state, entry, job, toError(thrown));
  }
  await settle(state, entry, settlement);
}

function toSettlement(outcome: JobOutcome): Settlement {
  if (!outcome) return { kind: 'completed' };
  return { kind: 'again', inSeconds: outcome.againInSeconds, data: outcome.data };
}

function afterError(state: State, entry: Entry, job: ClaimedJob, error: Error): Settlement {
  // A job that was aborted has not failed.
  if (state.stopping && entry.abort.signal.aborted) return { kind: 'released' };
  const details = { error, queue: state.queue, job: job.id, retryCount: job.retries };
  if (job.retries >= job.retryLimit) state.logger.error(details, 'a job failed for good');
  else state.logger.warn(details, 'a job failed and will be retried');
  return { kind: 'failed', reason: error.message.slice(0, MAX_REASON_LENGTH) };
}

async function settle(state: State, entry: Entry, settlement: Settlement): Promise<void> {
  if (entry.gone) return;
  entry.settling = true;
  const comesBack = entry.hastened && settlement.kind === 'again';
  const outcome = comesBack ? { ...settlement, inSeconds: 0 } : settlement;
  if (await state.writer.settle(entry.claim, outcome)) return;
  state.logger.warn({ queue: state.queue, job: entry.claim.id }, 'a job was not ours any more when it ended');
}

async function extend(state: State): Promise<void> {
  const running = [...state.entries.keys()].filter(({ settling, gone }) => !settling && !gone);
  const since = Date.now() - LONGEST_RUN_MS;
  const claims = running.flatMap(({ claim, begunAt }) => (begunAt < since ? [] : [claim]));
  const held = claims.length === 0 ? new Set<string>() : await state.claimed.extend(claims);
  for (const entry of running) {
    if (held.has(entry.claim.id) || entry.settling || entry.gone) continue;
    entry.gone = true;
    state.logger.warn({ queue: state.queue, job: entry.claim.id }, 'a job was lost: its lease has ended');
    entry.abort.abort(new AppError('UNAVAILABLE', 'this job is not ours any more'));
  }
}

async function finish(state: State, graceMs: number): Promise<number> {
  await allDone(state, graceMs);
  state.stopping = true;
  const unfinished = state.entries.size;
  for (const { abort } of state.entries.keys())
    abort.abort(new AppError('UNAVAILABLE', 'this process stops'));
  await allDone(state, WIND_DOWN_MS);
  const rest = [...state.entries.keys()].filter(({ gone, settling }) => !gone && !settling);
  for (const entry of rest) entry.gone = true;
  const timer = setTimeout(() => state.writer.abandon(), RELEASE_DELAY_MS);
  await Promise.all(rest.map(({ claim }) => state.writer.settle(claim, { kind: 'released' })));
  await Promise.all([...state.entries].filter(([{ settling }]) => settling).map(([, done]) => done));
  clearTimeout(timer);
  return unfinished;
}

/** Waits until no job runs, or the time is over. */
async function allDone(state: State, milliseconds: number): Promise<void> {
  const done = Promise.allSettled(state.entries.values());
  await pTimeout(done, { milliseconds: Math.max(1, milliseconds), message: false });
}
