import { setTimeout as delay } from 'node:timers/promises';

import { toError } from '../../platform/errors.ts';
import type { Job, JobResult } from './job.ts';
import type { LatencyProfile } from './latency-profile.ts';

/** What running one job needs from its runner. */
export interface JobRun {
  readonly job: Job;
  readonly signal: AbortSignal;
  readonly latency: () => LatencyProfile;
  readonly perform: Perform;
  /** Something can be shown already. */
  readonly onPreview: () => void;
  /** Shows a growing progress, 1 to 99. */
  readonly progress: (percent: number) => void;
}

/** Does the work of a job; calls `onPreview` once its preview is in the journal. */
export type Perform = (job: Job, signal: AbortSignal, onPreview: () => void) => Promise<JobResult>;

/** How a run ended: with a result, or by the fault that was planned for it. */
export type RunOutcome = { readonly result: JobResult } | { readonly fault: 'fail' | 'moderate' };

/** Does the work of a job while showing its progress at the wire's latency. Rejects when the work fails or the signal fires. */
export async function runJob(run: JobRun): Promise<RunOutcome> {
  const { fault } = run.job;
  const performing = run.perform(run.job, run.signal, run.onPreview);
  // Awaited below; until then a failure must not count as unhandled.
  performing.catch(() => undefined);
  try {
    await showProgress(run);
    if (fault === 'stall') await untilAborted(run.signal);
    if (fault === 'fail' || fault === 'moderate') return { fault };
    return { result: await performing };
  } finally {
    // Whoever stops the runner may remove its folder next: nothing may still be writing then.
    await Promise.allSettled([performing]);
  }
}

/** An unlucky job gets half of the way. */
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
