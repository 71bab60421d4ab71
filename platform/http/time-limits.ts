/**
 * One time limit for many calls at once, under one timer: they all have the same length, so that the oldest call is always the
 * next to end. A timer and an abort signal of its own for each call cost as much as a small request.
 */
export interface TimeLimits {
  /** Starts the limit of a call; `onOver` is called when it ends before it is cleared. */
  start(onOver: () => void): TimeLimit;
}

/** The limit of one call. */
interface TimeLimit {
  clear(): void;
}

/** Makes limits of this many milliseconds. */
export function createTimeLimits(ms: number): TimeLimits {
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
    start(onOver) {
      const limit: TimeLimit = { clear: () => void running.delete(limit) };
      running.set(limit, { endsAt: performance.now() + ms, onOver });
      // The sockets of the calls keep the process alive, not this.
      timer ??= setTimeout(look, ms).unref();
      return limit;
    },
  };
}
