/** Makes the writes of one job happen one after the other; those of different jobs go side by side. */
export interface WriteOrder {
  /** Runs `write` after the job's earlier writes; its failure is its own caller's alone. */
  readonly inOrder: (id: string, write: () => Promise<void>) => Promise<void>;
  /** Resolves when every write that was begun has ended, well or not. */
  readonly settled: () => Promise<void>;
}

/** No write is under way at first. */
export function createWriteOrder(): WriteOrder {
  const last = new Map<string, Promise<void>>();
  return {
    inOrder(id, write) {
      const before = last.get(id) ?? Promise.resolve();
      const mine = before.then(write, write);
      last.set(id, mine);
      const forget = () => {
        if (last.get(id) === mine) last.delete(id);
      };
      mine.then(forget, forget);
      return mine;
    },
    async settled() {
      await Promise.allSettled(last.values());
    },
  };
}
