import { LRUCache } from 'lru-cache';

import { pollPauseMs } from '../../rules/poll-times.ts';

/** How long upstreams usually take, by binding and model: learnt from the work that has ended last. */
export interface UsualDurations {
  /** Learns from work that an upstream has finished. */
  learn(work: TimedWork): void;
  /** The mean in seconds; null while nothing is known. */
  of(work: Omit<TimedWork, 'runningSeconds'>): number | null;
  /** Milliseconds until work that is under way is asked for again, where its wire would be asked every `pollMs`. */
  pauseMs(work: TimedWork, pollMs: number): number;
}

/** Work of a binding, since its upstream took it. */
interface TimedWork {
  readonly binding: string;
  readonly model: string | null;
  readonly runningSeconds: number;
}

interface Ends {
  /** Seconds, the newest last. */
  readonly newest: readonly number[];
  /** The same from the shortest to the longest. */
  readonly ordered: readonly number[];
  readonly mean: number;
}

/** Bindings and models that are remembered; then the ones that were used longest ago go. */
const MOST_KEPT = 1_000;
/** Ends that are remembered of each, so that they follow an upstream that changes. */
const WINDOW = 64;
const NONE: readonly number[] = [];

export function createUsualDurations(): UsualDurations {
  const ends = new LRUCache<string, Ends>({ max: MOST_KEPT });
  return {
    learn(work) {
      const newest = [...(ends.get(keyOf(work))?.newest ?? []), work.runningSeconds].slice(-WINDOW);
      const mean = newest.reduce((sum, seconds) => sum + seconds, 0) / newest.length;
      ends.set(keyOf(work), { newest, ordered: newest.toSorted((one, other) => one - other), mean });
    },
    of: (work) => ends.get(keyOf(work))?.mean ?? null,
    pauseMs(work, pollMs) {
      const known = ends.get(keyOf(work))?.ordered ?? NONE;
      return pollPauseMs({ seconds: work.runningSeconds, known, pollMs });
    },
  };
}

function keyOf({ binding, model }: Pick<TimedWork, 'binding' | 'model'>): string {
  return `${binding} ${model ?? ''}`;
}
