/** The simulated timing of a wire. Can be changed at run time over /_control/latency. */
export interface LatencyProfile {
  /** Milliseconds every job waits before it may run. */
  readonly queuedMs: number;
  /** Minimum milliseconds that a job runs; rendering may take longer. */
  readonly runningMs: number;
  /** Number of progress values while a job runs. */
  readonly progressSteps: number;
  /** Percent that no running job passes until this is changed; 100 holds none. */
  readonly holdAt: number;
  /** Most jobs running at once. */
  readonly concurrency: number;
  /** Most waiting jobs; beyond it a start is refused. */
  readonly queueSize: number;
}

/** The default: about 1.2 s per job, with five progress values. */
export const DEFAULT_LATENCY: LatencyProfile = {
  queuedMs: 200,
  runningMs: 1_000,
  progressSteps: 5,
  holdAt: 100,
  concurrency: 16,
  queueSize: 2_000,
};
