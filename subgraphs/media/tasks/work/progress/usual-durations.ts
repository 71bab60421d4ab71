import { LRUCache } from 'lru-cache';

/** How long upstreams usually take, by binding and model: learnt from the work that ended in this process. */
export interface UsualDurations {
  /** Learns from work that an upstream has finished. */
  learn(work: TimedWork): void;
  /** Seconds; null while nothing is known. */
  of(work: Omit<TimedWork, 'runningSeconds'>): number | null;
}

/** Work of a binding, since its upstream took it. */
interface TimedWork {
  readonly binding: string;
  readonly model: string | null;
  readonly runningSeconds: number;
}

interface Mean {
  readonly seconds: number;
  readonly count: number;
}

/** Bindings and models that are remembered; then the ones that were used longest ago go. */
const MOST_KEPT = 1_000;
/** The newest counts at least one part of so many, so that a mean follows an upstream that changes. */
const WINDOW = 20;

export function createUsualDurations(): UsualDurations {
  const means = new LRUCache<string, Mean>({ max: MOST_KEPT });
  return {
    learn(work) {
      const { seconds, count } = means.get(keyOf(work)) ?? { seconds: 0, count: 0 };
      const weight = Math.min(WINDOW, count + 1);
      means.set(keyOf(work), {
        seconds: seconds + (work.runningSeconds - seconds) / weight,
        count: weight,
      });
    },
    of: (work) => means.get(keyOf(work))?.seconds ?? null,
  };
}

function keyOf({ binding, model }: Pick<TimedWork, 'binding' | 'model'>): string {
  return `${binding} ${model ?? ''}`;
}
