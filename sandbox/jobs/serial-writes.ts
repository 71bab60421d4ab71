/** Makes the writes of one thing happen one after the other; those of different things go side by side. */
export interface SerialWrites {
  /** Runs `write` after the earlier writes of the same name; its failure is its own caller's alone. */
  readonly serialized: (name: string, write: () => Promise<void>) => Promise<void>;
  /** Runs `work` while no write is under way: those begun have ended, later ones wait for it. */
  readonly exclusive: (work: () => Promise<void>) => Promise<void>;
  /** Resolves when every write that was begun has ended, well or not. */
  readonly settled: () => Promise<void>;
}

/** No write is under way at first. */
export function createSerialWrites(): SerialWrites {
  const last = new Map<string, Promise<void>>();
  let gate: Promise<unknown> = Promise.resolve();
  const settled = async () => {
    await Promise.allSettled(last.values());
  };
  return {
    serialized(name, write) {
      const before = Promise.allSettled([last.get(name), gate]);
      const mine = before.then(write);
      last.set(name, mine);
      const forget = () => {
        if (last.get(name) === mine) last.delete(name);
      };
      mine.then(forget, forget);
      return mine;
    },
    exclusive(work) {
      const mine = Promise.allSettled([settled(), gate]).then(work);
      gate = mine.catch(() => undefined);
      return mine;
    },
    settled,
  };
}
