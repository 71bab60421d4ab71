/** An abort signal for the timeout of a call and for its caller's abort. */
export type Deadline = ReturnType<typeof createDeadline>;

/** Starts the timeout of a call. */
export function createDeadline({ timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal }) {
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
    /** Why the signal fired; null while it has not. */
    reason: () => reason,
    /** Milliseconds left. */
    remainingMs: () => endsAt - performance.now(),
    /** Restarts the timeout: there was progress. */
    extend(): void {
      endsAt = performance.now() + timeoutMs;
      clock.refresh();
    },
    /** Ends the timeout, the caller may still abort: for a download after its headers. */
    stopClock: () => clearTimeout(clock),
    /** Releases the timer and the caller's signal. */
    clear(): void {
      clearTimeout(clock);
      signal?.removeEventListener('abort', onAbort);
    },
  };
}

/**
 * One time limit for many calls at once, under one timer: they all have the same length, so that the oldest call is always the
 * next to end. A timer and an abort signal of its own for each call cost as much as a small request.
 */
export type TimeLimits = ReturnType<typeof createTimeLimits>;

interface TimeLimit {
  clear(): void;
}

/** Makes limits of this many milliseconds. */
export function createTimeLimits(ms: number) {
  /** In the order of their ends. */
  const running = new Map<TimeLimit, { readonly endsAt: number; readonly onOver: () => void }>();
  let timer: NodeJS.Timeout | null = null;

  const look = (): void => {
    timer = null;
    const now = performance.now();
    for (const [limit, { endsAt, onOver }] of running) {
      if (endsAt > now) {
        timer = setTimeout(look, Math.ceil(endsAt - now)).unref();
        return;
      }
      running.delete(limit);
      onOver();
    }
  };
  return {
    /** Starts the limit of a call; `onOver` is called when it ends before it is cleared. */
    start(onOver: () => void): TimeLimit {
      const limit: TimeLimit = { clear: () => void running.delete(limit) };
      running.set(limit, { endsAt: performance.now() + ms, onOver });
      // The sockets of the calls keep the process alive, not this.
      timer ??= setTimeout(look, ms).unref();
      return limit;
    },
  };
}
