import type { Metrics } from '../../../../platform/metrics/metrics.ts';
import { boundedLabel } from '../../../../platform/metrics/metrics.ts';
import type { Logger } from '../../../../platform/process/logger.ts';
import type { AttemptRow } from '../../database/database.ts';
import type { Cost } from '../../domain/cost.ts';
import type { EndSummary } from '../storage/usage-store.ts';

/** What is reported of work when it ends: metrics, and one line of the log for each task. Called after the commit. */
export type WorkObserver = ReturnType<typeof createWorkObserver>;

interface AttemptOutcome {
  /** `finished`, or the code of its failure. */
  readonly outcome: string;
  readonly cost: Cost;
}

/** Most models that are named: callers may name any where a binding takes any. */
const MAX_MODELS = 200;
const MAX_GENERATORS = 100;

/** Makes the observer of a process. */
export function createWorkObserver(options: { readonly metrics: Metrics; readonly logger: Logger }) {
  const { metrics, logger } = options;
  const labelModel = boundedLabel(MAX_MODELS);
  const labelGenerator = boundedLabel(MAX_GENERATORS);
  const ended = metrics.counter('kiln_tasks_ended_total', 'Tasks that have ended.', [
    'kind',
    'generator',
    'state',
  ]);
  const phase = metrics.histogram(
    'kiln_task_phase_seconds',
    'Time of ended tasks until start, result and storage.',
    ['kind', 'phase'],
  );
  const attempts = metrics.counter('kiln_attempts_total', 'Starts at providers that have ended.', [
    'provider',
    'model',
    'outcome',
  ]);
  const spent = metrics.counter('kiln_cost_total', 'Known cost of work, in the currency of the price list.', [
    'provider',
    'currency',
  ]);
  return {
    taskEnded(end: EndSummary): void {
      ended({ kind: end.kind, generator: labelGenerator(end.generator), state: end.state });
      const times = { queue: end.queueMs, run: end.runMs, store: end.storeMs };
      for (const [name, ms] of Object.entries(times)) {
        if (ms !== null) phase({ kind: end.kind, phase: name }, ms / 1000);
      }
      logger.info({ ...end }, 'task ended');
    },
    attemptEnded(
      { provider, model }: Pick<AttemptRow, 'provider' | 'model' | 'startedAt'>,
      { outcome, cost }: AttemptOutcome,
    ): void {
      attempts({ provider, model: labelModel(model ?? ''), outcome });
      if (cost.microUnits !== null && cost.microUnits > 0) {
        spent({ provider, currency: cost.currency ?? '' }, cost.microUnits / 1_000_000);
      }
    },
  };
}
