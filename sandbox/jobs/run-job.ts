import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';

import { toError } from '../../platform/errors.ts';
import type { Job, JobResult } from './job.ts';
import type { LatencyProfile } from './latency-profile.ts';

/** The dependencies of a run. */
export interface JobRun {
  readonly job: Job;
  readonly signal: AbortSignal;
  readonly latency: () => LatencyProfile;
  readonly perform: Perform;
  /** Called when the preview is in the journal. */
  readonly onPreview: () => void;
  /** Reports progress, 1 to 99. */
  readonly progress: (percent: number) => void;
}

/** Does the work of a job; calls `onPreview` once its preview is in the journal. */
export type Perform = (job: Job, signal: AbortSignal, onPreview: () => void) => Promise<JobResult>;

/** The end of a run: a result, or its planned fault. */
export type RunOutcome = { readonly result: JobResult } | { readonly fault: 'fail' | 'moderate' };

/**
 * Runs a job and reports progress: by the wire's latency, and no further than what is rendered. Rejects when the work
 * fails or the signal is aborted.
 */
export async function runJob(run: JobRun): Promise<RunOutcome> {
  const { fault } = run.job;
  const progress = createJobProgress(run);
  const performing = listenToRender(progress.rendered, () => run.perform(run.job, run.signal, run.onPreview));
  // Awaited below; until then a rejection must not be unhandled.
  performing.catch(() => undefined);
  try {
    await passLatency(run, progress);
    if (fault === 'stall') await untilAborted(run.signal);
    if (fault === 'fail' || fault === 'moderate') return { fault };
    return { result: await performing };
  } finally {
    // The caller of stop() may remove the folder: no write may be pending.
    await Promise.allSettled([performing]);
  }
}

/** Lets the wire's latency pass, in steps; a job with a planned fault stops half-way. */
async function passLatency(run: JobRun, progress: JobProgress): Promise<void> {
  const { job, signal, latency } = run;
  const { runningMs, progressSteps } = latency();
  const steps = Math.max(1, Math.floor(progressSteps));
  const shown = job.fault === null ? steps : Math.ceil(steps / 2);
  for (let step = 1; step <= shown; step += 1) {
    await delay(runningMs / (steps + 1), undefined, { signal });
    const percent = Math.round((step / (steps + 1)) * 100);
    await untilReleased(run, percent);
    progress.passed(percent);
  }
  await delay(runningMs / (steps + 1), undefined, { signal });
  await untilReleased(run, 100);
  if (job.fault === null) progress.passed(LAST_PERCENT);
}

/** Milliseconds between two looks at whether a held job may go on. */
const HOLD_POLL_INTERVAL_MS = 20;

/** Waits while jobs of this wire are held before this percent. */
async function untilReleased({ latency, signal }: JobRun, percent: number): Promise<void> {
  while (latency().holdAt < percent) await delay(HOLD_POLL_INTERVAL_MS, undefined, { signal });
}

/** Both parts of a job's progress, 0 to 100. */
interface JobProgress {
  readonly passed: (percent: number) => void;
  readonly rendered: (percent: number) => void;
}

const LAST_PERCENT = 99;
/** Fewest percent between two reports of what is rendered: each may be a webhook. */
const RENDER_STEP = 4;

function createJobProgress({ progress }: Pick<JobRun, 'progress'>): JobProgress {
  let passed = 0;
  // Null while nothing is rendered, or when that tells nothing of itself.
  let rendered: number | null = null;
  let shown = 0;
  function show(least: number): void {
    const percent = Math.min(passed, rendered ?? passed);
    if (percent < shown + least) return;
    shown = percent;
    progress(percent);
  }
  return {
    passed(percent) {
      passed = percent;
      if (percent < LAST_PERCENT) show(1);
    },
    rendered(percent) {
      rendered = Math.max(rendered ?? 0, Math.min(LAST_PERCENT, Math.round(percent)));
      show(RENDER_STEP);
    },
  };
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = () => reject(toError(signal.reason));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

/** The progress of what a job renders, handed from the studio to the job that it renders for. */
const listeners = new AsyncLocalStorage<(percent: number) => void>();

/** Does the work of a job; what is rendered in it reports to the listener, 0 to 100. */
function listenToRender<Result>(listener: (percent: number) => void, work: () => Result): Result {
  return listeners.run(listener, work);
}

/** Reports to the job that is being worked for, if any. To be asked for when the rendering begins. */
export function renderListener(): (percent: number) => void {
  return listeners.getStore() ?? (() => undefined);
}
