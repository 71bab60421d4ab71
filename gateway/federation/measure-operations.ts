import type { GraphqlRequest } from '../../platform/graphql/operations/executor.ts';
import { listRootFields } from '../../platform/graphql/operations/inspect-document.ts';
import { noMetrics, type Metrics } from '../../platform/metrics/metrics.ts';
import type { OperationContext } from './operation/operation-context.ts';

/** Measures operations by each of their root fields, by transport, and by how they ended. */
export interface OperationMeter {
  measure<Answer extends object>(
    operation: OperationContext,
    request: GraphqlRequest,
    run: () => Promise<Answer>,
  ): Promise<Answer>;
}

/** Makes the meter; nothing is measured where nobody can read it. */
export function createOperationMeter(metrics: Metrics): OperationMeter {
  if (metrics === noMetrics) return { measure: (_operation, _request, run) => run() };
  const observe = metrics.histogram(
    'kiln_root_field_seconds',
    'Operations by root field; of subscriptions, until they begin.',
    ['field', 'transport', 'outcome'],
  );
  // Kept as long as the plan is.
  const known = new WeakMap<OperationContext, readonly string[]>();
  return {
    async measure(operation, { transport = 'http' }, run) {
      const startedAt = performance.now();
      const answer = await run();
      const fields = known.get(operation) ?? listFields(operation);
      known.set(operation, fields);
      const outcome = 'errors' in answer && answer.errors !== undefined ? 'errors' : 'ok';
      const seconds = (performance.now() - startedAt) / 1000;
      for (const field of fields) observe({ field, transport, outcome }, seconds);
      return answer;
    },
  };
}

function listFields({ operation, fragments }: OperationContext): readonly string[] {
  return [...new Set(listRootFields(operation, (name) => fragments[name]))];
}
