/** What clients hold open (connections, sockets, streams), counted and bounded per client. */
export type Slots = ReturnType<typeof createSlots>;

/** One open thing of a client. */
export interface Slot {
  /** Counts it against another key from now on; false, and unchanged, when that has all of them. */
  move(key: string): boolean;
  /** Ends it; further calls do nothing. */
  release(): void;
}

/** Makes the counts. `max` slots per key; 0: no bound. */
export function createSlots(max: number) {
  const counts = new Map<string, number>();

  function enter(key: string): boolean {
    const count = counts.get(key) ?? 0;
    if (max > 0 && count >= max) return false;
    counts.set(key, count + 1);
    return true;
  }
  function leave(key: string): void {
    const count = (counts.get(key) ?? 1) - 1;
    if (count === 0) counts.delete(key);
    else counts.set(key, count);
  }

  return {
    /** Takes a slot for a client's key; null when it has all of them. */
    take(first: string): Slot | null {
      if (!enter(first)) return null;
      let key: string | null = first;
      return {
        move(next) {
          if (key === null || (next !== key && !enter(next))) return false;
          if (next !== key) leave(key);
          key = next;
          return true;
        },
        release() {
          if (key !== null) leave(key);
          key = null;
        },
      };
    },
  };
}
