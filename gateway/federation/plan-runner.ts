import { executeQueryPlan } from '@apollo/gateway';
import type { ServiceMap } from '@apollo/gateway';
import type { QueryPlan } from '@apollo/query-planner';
import type { ExecutionResult } from 'graphql';

import type { GraphqlRequest, RequestContext } from '../../platform/graphql/executor.ts';
import type { SubgraphLink } from '../../platform/graphql/subgraph.ts';
import type { Logger } from '../../platform/logger.ts';
import { dataSourcesOf, withAnswer } from './data-sources.ts';
import type { OperationContext, Planner, RequestPlan, SubscriptionPlan } from './plans.ts';
import { outwardResult } from './results.ts';

/** Runs plans with Apollo's own executor over our links. */
export interface PlanRunner {
  runRequest(plan: RequestPlan, request: GraphqlRequest): Promise<ExecutionResult>;
  /** Runs what follows an event of a subscription; the event plays the answer of the primary fetch. */
  runEvent(plan: SubscriptionPlan, request: GraphqlRequest, event: ExecutionResult): Promise<ExecutionResult>;
}

export interface PlanRunnerOptions {
  readonly planner: Planner;
  readonly links: Readonly<Record<string, SubgraphLink>>;
  readonly logger: Logger;
}

/** Makes the runner of a planner's plans. */
export function createPlanRunner({ planner, links, logger }: PlanRunnerOptions): PlanRunner {
  const { supergraphSchema, apiModel } = planner;
  const sources = dataSourcesOf(links);

  const run = async ({ plan, operation, request, services }: Run): Promise<ExecutionResult> => {
    const context = gatewayContext({ operation, request, planner, logger });
    return outwardResult(
      await executeQueryPlan(plan, services, context, operation, supergraphSchema, apiModel),
    );
  };

  return {
    runRequest: ({ plan, operation }, request) => run({ plan, operation, request, services: sources }),
    runEvent({ primary, operation, eventPlan, isPlain }, request, result) {
      if (isPlain && result.errors === undefined && result.data)
        return Promise.resolve({ data: result.data });
      const answer = { serviceName: primary.serviceName, operation: primary.operation, result };
      return run({ plan: eventPlan, operation, request, services: withAnswer(sources, answer) });
    },
  };
}

interface Run {
  readonly plan: QueryPlan;
  readonly operation: OperationContext;
  readonly request: GraphqlRequest;
  readonly services: ServiceMap;
}

type GatewayContext = Parameters<typeof executeQueryPlan>[2];

// What Apollo's executor reads of its request context; the rest of that type belongs to Apollo Server.
function gatewayContext(from: {
  operation: OperationContext;
  request: GraphqlRequest;
  planner: Planner;
  logger: Logger;
}): GatewayContext {
  const { query, operationName, variables } = from.request;
  const context: RequestContext = { ...from.request.context };
  return {
    request: { query, operationName, variables },
    schema: from.planner.apiSchema,
    operation: from.operation.operation,
    source: query,
    context,
    logger: from.logger,
    metrics: {},
  } as unknown as GatewayContext;
}
