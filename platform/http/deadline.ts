/** An abort signal for the timeout of a call and for its caller's abort. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Why the signal fired; null while it has not. */
  reason(): 'TIMED_OUT' | 'ABORTED' | null;
  /** Milliseconds left. */
  remainingMs(): number;
  /** Restarts the timeout: there was progress. */
  extend(): void;
  /** Ends the timeout, the caller may still abort: for a download after its headers. */
  stopClock(): void;
  /** Releases the timer and the caller's signal. */
  clear(): void;
}

/** Starts the timeout of a call. */
export function createDeadline({ timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal }): Deadline {
  const controller = new AbortController();
  let endsAt = performance.now() + timeoutMs;
  let reason: 'TIMED_OUT' | 'ABORTED' | null = null;
  const fire = (why: 'TIMED_OUT' | 'ABORTED') => {
    reason ??= why;
    controller.abort();
  };
  const onAbort = () => fire('ABORTED');
  const clock = setTimeout(() => fire('TIMED_OUT'), timeoutMs);
  if (signal?.aborted === true) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    reason: () => reason,
    remainingMs: () => endsAt - performance.now(),
    extend() {
      endsAt = performance.now() + timeoutMs;
      clock.refresh();
    },
    stopClock: () => clearTimeout(clock),
    clear() {
      clearTimeout(clock);
      signal?.removeEventListener('abort', onAbort);
    },
  };
}
