import type { Logger } from '../../platform/process/logger.ts';
import type { FallbackReads } from './fallback.ts';

/** Reads that went to an old service, by operation, outcome and age; metrics read the snapshot. */
export interface FallbackReadCounts extends FallbackReads {
  snapshot(): readonly FallbackReadCount[];
}

/** One count since the start. */
interface FallbackReadCount {
  readonly operation: string;
  readonly outcome: string;
  /** day, week, month, older or unknown. */
  readonly age: string;
  readonly count: number;
}

/** Counts in memory, and logs each read. There are few operations, outcomes and ages, so the counts are bounded. */
export function createFallbackReads(logger: Logger): FallbackReadCounts {
  const counts = new Map<string, { operation: string; outcome: string; age: string; count: number }>();
  return {
    count(operation, outcome, age) {
      const key = [operation, outcome, age].join(' ');
      const entry = counts.get(key) ?? { operation, outcome, age, count: 0 };
      entry.count += 1;
      counts.set(key, entry);
      logger.info({ operation, outcome, age, count: entry.count }, 'a read went to the old service');
    },
    snapshot: () => [...counts.values()].map((entry) => ({ ...entry })),
  };
}
