import type { Metrics } from '../../platform/metrics/metrics.ts';
import type { Logger } from '../../platform/process/logger.ts';
import type { FallbackReads } from './fallback.ts';

/** Counts reads in the metrics, and logs each. There are few operations, outcomes and ages. */
export function createFallbackReads(logger: Logger, metrics: Metrics): FallbackReads {
  const counted = metrics.counter(
    'kiln_fallback_reads_total',
    'Reads of ids that an old service may know, by who answered and how old the thing is.',
    ['operation', 'outcome', 'age'],
  );
  return {
    count(operation, outcome, age) {
      counted({ operation, outcome, age });
      logger.info({ operation, outcome, age }, 'a read of an old id');
    },
  };
}
