/** A number of places that are taken in turn. */
export interface Slots {
  /** Waits for a place: the function that leaves it, to be called once. Throws when `signal` is aborted first. */
  enter(signal: AbortSignal): Promise<() => void>;
}

/** Makes so many places. */
export function createSlots(count: number): Slots {
  let free = count;
  const waiting: (() => void)[] = [];
  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  return {
    async enter(signal) {
      signal.throwIfAborted();
      if (free > 0) {
        free -= 1;
        return leave;
      }
      await new Promise<void>((resolve, reject) => {
        const giveUp = (): void => {
          const place = waiting.indexOf(take);
          if (place >= 0) waiting.splice(place, 1);
          reject(signal.reason as Error);
        };
        const take = (): void => {
          signal.removeEventListener('abort', giveUp);
          resolve();
        };
        waiting.push(take);
        signal.addEventListener('abort', giveUp, { once: true });
      });
      return leave;
    },
  };
}
