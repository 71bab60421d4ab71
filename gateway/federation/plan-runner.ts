import { executeQueryPlan, type ServiceMap } from '@apollo/gateway';
import type { FetchNode, QueryPlan } from '@apollo/query-planner';
import type { ExecutionResult } from 'graphql';

import type { GraphqlRequest, RequestContext } from '../../platform/graphql/operations/executor.ts';
import type { SubgraphLink } from '../../platform/graphql/operations/subgraph.ts';
import type { Logger } from '../../platform/process/logger.ts';
import { dataSourcesOf, fetchRequest, linkTo, withFetchResult } from './data-sources.ts';
import type { OperationContext } from './operation-context.ts';
import type { Planner, RequestPlan, SubscriptionPlan } from './plans.ts';
import { withoutServiceNames } from './results.ts';

/** Runs plans with Apollo's executor over our links. */
export interface PlanRunner {
  runRequest(plan: RequestPlan, request: GraphqlRequest): Promise<ExecutionResult>;
  /** Runs the plan of a subscription's event; the event is the result of the primary fetch. */
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
    return withoutServiceNames(
      await executeQueryPlan(plan, services, context, operation, supergraphSchema, apiModel),
    );
  };

  /** Runs a plan whose first fetch has its result already. */
  const runAfterFetch = (parts: Omit<Run, 'services'>, fetch: FetchNode, result: ExecutionResult) =>
    run({ ...parts, services: withFetchResult(sources, { fetch, result }) });

  return {
    async runRequest({ plan, operation, passThrough }, request) {
      if (passThrough === null) return run({ plan, operation, request, services: sources });
      const link = linkTo(links, passThrough.serviceName);
      const result = await link.execute(fetchRequest(passThrough, request));
      return completeResult(result) ?? runAfterFetch({ plan, operation, request }, passThrough, result);
    },
    async runEvent({ primary, operation, eventPlan, isPlain }, request, result) {
      const whole = isPlain ? completeResult(result) : null;
      return whole ?? runAfterFetch({ plan: eventPlan, operation, request }, primary, result);
    },
  };
}

/** The data of a result without errors; null for any other. */
function completeResult({ data, errors }: ExecutionResult): ExecutionResult | null {
  return errors === undefined && data !== undefined && data !== null ? { data } : null;
}

interface Run {
  readonly plan: QueryPlan;
  readonly operation: OperationContext;
  readonly request: GraphqlRequest;
  readonly services: ServiceMap;
}

type GatewayContext = Parameters<typeof executeQueryPlan>[2];

// The part of the request context that Apollo's executor reads.
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
