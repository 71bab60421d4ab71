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

/** Runs a job and reports progress with the wire's latency. Rejects when the work fails or the signal is aborted. */
export async function runJob(run: JobRun): Promise<RunOutcome> {
  const { fault } = run.job;
  const performing = run.perform(run.job, run.signal, run.onPreview);
  // Awaited below; until then a rejection must not be unhandled.
  performing.catch(() => undefined);
  try {
    await showProgress(run);
    if (fault === 'stall') await untilAborted(run.signal);
    if (fault === 'fail' || fault === 'moderate') return { fault };
    return { result: await performing };
  } finally {
    // The caller of stop() may remove the folder: no write may be pending.
    await Promise.allSettled([performing]);
  }
}

/** Reports progress; a job with a planned fault stops half-way. */
async function showProgress({ job, signal, latency, progress }: JobRun): Promise<void> {
  const { runningMs, progressSteps } = latency();
  const steps = Math.max(1, Math.floor(progressSteps));
  const shown = job.fault === null ? steps : Math.ceil(steps / 2);
  for (let step = 1; step <= shown; step += 1) {
    await delay(runningMs / (steps + 1), undefined, { signal });
    progress(Math.round((step / (steps + 1)) * 100));
  }
  await delay(runningMs / (steps + 1), undefined, { signal });
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = () => reject(toError(signal.reason));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
