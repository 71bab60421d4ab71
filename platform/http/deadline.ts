/** One signal for everything that may end a call early: its clock, and the caller who no longer wants the answer. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Why the signal fired; null while it has not. */
  reason(): 'TIMED_OUT' | 'ABORTED' | null;
  /** Milliseconds left on the clock. */
  remainingMs(): number;
  /** Starts the clock anew: something has moved. */
  extend(): void;
  /** No more clock, the caller may still abort: a download whose headers have come. */
  stopClock(): void;
  /** Lets go of the clock and of the caller's signal; nothing fires any more. */
  clear(): void;
}

/** Starts the clock of a call. */
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
