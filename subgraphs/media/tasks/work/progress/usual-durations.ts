import { LRUCache } from 'lru-cache';

import { pollPauseMs } from '../../rules/poll-times.ts';

/** How long upstreams usually take, by binding and model: learnt from the work that has ended last. */
export type UsualDurations = ReturnType<typeof createUsualDurations>;

/** Work of a binding, since its upstream took it. */
interface TimedWork {
  readonly binding: string;
  readonly bindingName?: string | null;
  readonly model: string | null;
  readonly runningSeconds: number;
}

interface Ends {
  /** Seconds, the newest last. */
  readonly newest: readonly number[];
  /** The same from the shortest to the longest. */
  readonly ordered: readonly number[];
  readonly mean: number;
  /** When the newest ended. */
  readonly newestAt: number;
}

/** Bindings and models that are remembered; then the ones that were used longest ago go. */
const MOST_KEPT = 1_000;
/** Ends that are remembered of each, so that they follow an upstream that changes. */
const WINDOW = 64;
/**
 * The ends of a full window span at least so many usual durations. When thousands of tasks begin together, the newest ends
 * all took equally long, and by them alone every task that still runs would look late.
 */
const USUAL_DURATIONS_BACK = 4;
const NONE: readonly number[] = [];

/** Makes it; `now` is the clock in milliseconds since 1970. */
export function createUsualDurations(now: () => number = Date.now) {
  const ends = new LRUCache<string, Ends>({ max: MOST_KEPT });
  return {
    /** Learns from work that an upstream has finished, at a time in milliseconds since 1970 (default: now). */
    learn(work: TimedWork, endedAt = now()): void {
      const known = ends.get(formatKey(work));
      if (known !== undefined && isTooSoon(known, endedAt)) return;
      const newest = [...(known?.newest ?? []), work.runningSeconds].slice(-WINDOW);
      const mean = newest.reduce((sum, seconds) => sum + seconds, 0) / newest.length;
      const ordered = newest.toSorted((one, other) => one - other);
      ends.set(formatKey(work), { newest, ordered, mean, newestAt: endedAt });
    },
    /** The mean in seconds; null while nothing is known. */
    of: (work: Omit<TimedWork, 'runningSeconds'>): number | null => ends.get(formatKey(work))?.mean ?? null,
    /** Milliseconds until work that is under way is asked for again, where its wire would be asked every `pollMs`. */
    pauseMs(work: TimedWork, pollMs: number): number {
      const known = ends.get(formatKey(work))?.ordered ?? NONE;
      return pollPauseMs({ seconds: work.runningSeconds, known, pollMs });
    },
  };
}

/** A full window takes one end in a while. */
function isTooSoon({ newest, mean, newestAt }: Ends, endedAt: number): boolean {
  const spacingMs = (USUAL_DURATIONS_BACK * mean * 1000) / WINDOW;
  return newest.length === WINDOW && endedAt - newestAt < spacingMs;
}

function formatKey({ binding, bindingName, model }: Omit<TimedWork, 'runningSeconds'>): string {
  return `${bindingName ?? binding} ${model ?? ''}`;
}
