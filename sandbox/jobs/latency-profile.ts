/** How fast a stand-in works. Changed at run time over /_control/latency. */
export interface LatencyProfile {
  /** Milliseconds every job waits before it may run. */
  readonly queuedMs: number;
  /** Milliseconds a job runs at least; rendering may take longer. */
  readonly runningMs: number;
  /** How many growing progress values a job shows while it runs. */
  readonly progressSteps: number;
  /** Most jobs running at once. */
  readonly concurrency: number;
  /** Most jobs waiting for a place; beyond it a start is refused. */
  readonly queueSize: number;
}

/** The default: about 1.2 s for one job, five progress values on the way. */
export const DEFAULT_LATENCY: LatencyProfile = {
  queuedMs: 200,
  runningMs: 1_000,
  progressSteps: 5,
  concurrency: 16,
  queueSize: 2_000,
};
