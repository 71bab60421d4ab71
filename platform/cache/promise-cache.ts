import { LRUCache } from 'lru-cache';

/** Answers that are asked for once and then given again for a moment. Who asks meanwhile shares the asking; a failure is not kept. */
export interface PromiseCache<Answer> {
  /** The answer that is kept under this key, else what `ask` says. */
  of(key: string, ask: () => Promise<Answer>): Promise<Answer>;
  /** Nothing of this key (of any, without one) is given again. Who asked before still gets the answer of then. */
  forget(key?: string): void;
}

export interface PromiseCacheOptions {
  /** Milliseconds that an answer is given again, from when it was asked for. */
  readonly ttlMs: number;
  /** Most answers kept; the one that was used longest ago goes first. */
  readonly max: number;
}

/** Makes the keeper. */
export function createPromiseCache<Answer>({ ttlMs, max }: PromiseCacheOptions): PromiseCache<Answer> {
  // The promises themselves: the cache's own fetching fails whoever waits while something is forgotten.
  const kept = new LRUCache<string, Promise<Answer>>({ max, ttl: ttlMs });
  return {
    of(key, ask) {
      const known = kept.get(key);
      if (known !== undefined) return known;
      const asked = ask();
      kept.set(key, asked);
      asked.catch(() => {
        if (kept.peek(key) === asked) kept.delete(key);
      });
      return asked;
    },
    forget(key) {
      if (key === undefined) kept.clear();
      else kept.delete(key);
    },
  };
}
