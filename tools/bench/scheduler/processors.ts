import type { FakeClock } from './clock.ts';

/** Waits for a free processor and for the work that it does, in milliseconds. */
export type Processors = (ms: number) => Promise<void>;

/** Makes so many; null: there is always a free one. */
export function createProcessors({ now, after }: FakeClock, count: number | null): Processors {
  if (count === null) return (ms) => after(ms);
  const freeAt = Array.from({ length: count }, () => 0);
  return (ms) => {
    let first = 0;
    for (let index = 1; index < count; index += 1)
      if ((freeAt[index] ?? 0) < (freeAt[first] ?? 0)) first = index;
    const end = Math.max(now(), freeAt[first] ?? 0) + ms;
    freeAt[first] = end;
    return after(end - now());
  };
}
