import type { Logger } from '../../../platform/process/logger.ts';
import type { GatewayFile } from '../../configuration/gateway-file.schema.ts';
import { costDirectivesOf } from '../../cost/cost-directives.ts';
import { createOperationCost } from '../../cost/operation-cost.ts';
import type { Costs } from '../../federation/execution.ts';
import { refusal } from '../../limits/refusal.ts';

/** Counts what operations over a supergraph cost; undefined where the configuration says nothing of it. */
export function costsBy(supergraphSdl: string, { cost }: GatewayFile, logger: Logger): Costs | undefined {
  if (cost === undefined) return undefined;
  const { max, mode = 'enforce', listSize = 10, inAnswers = false } = cost;
  const counted = createOperationCost({ directives: costDirectivesOf(supergraphSdl), listSize });
  return {
    refuse(operation, variables) {
      const estimated = counted.estimated(operation, variables);
      if (estimated <= max) return null;
      if (mode === 'enforce') return { errors: [refusal('cost', max, estimated)] };
      const name = operation.operation.name?.value;
      logger.warn({ operation: name, estimated, max }, 'an operation costs more than allowed');
      return null;
    },
    complete(operation, variables, result) {
      if (!inAnswers) return result;
      const estimated = counted.estimated(operation, variables);
      const actual = counted.actual(operation, variables, result.data);
      return { ...result, extensions: { ...result.extensions, cost: { estimated, actual } } };
    },
  };
}
