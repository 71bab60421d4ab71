/** The same numbers for the same seed. */
export interface Random {
  /** An integer from 0 to below `end`. */
  below(end: number): number;
  /** One of these. */
  of<Item>(items: readonly Item[]): Item;
  /** True in so many of a hundred cases. */
  chance(percent: number): boolean;
}

/** Mulberry32: small, and good enough to shuffle requests. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (end: number): number => Math.floor(next() * end);
  return {
    below,
    chance: (percent) => next() * 100 < percent,
    of(items) {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error('nothing to choose from');
      return item;
    },
  };
}
