import { setTimeout as pause } from 'node:timers/promises';

/** Makes a wait that lets its callers pass one after the other, at most so many a second. */
export function createThrottle(perSecond: number): () => Promise<void> {
  let next = 0;
  return async () => {
    const now = Date.now();
    const waitMs = Math.max(0, next - now);
    next = Math.max(next, now) + 1000 / perSecond;
    if (waitMs > 0) await pause(waitMs);
  };
}
