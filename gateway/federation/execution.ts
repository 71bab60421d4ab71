import { type ExecutionResult, getVariableValues } from 'graphql';

import { AppError } from '../../platform/errors.ts';
import type { Documents } from '../../platform/graphql/operations/documents.ts';
import type {
  GraphqlExecutor,
  GraphqlRequest,
  ResultStream,
} from '../../platform/graphql/operations/executor.ts';
import { isStream, mapStream } from '../../platform/graphql/operations/streams.ts';
import { fetchRequest, linkTo } from './data-sources.ts';
import type { OperationContext } from './operation-context.ts';
import { createPlanRunner, type PlanRunnerOptions } from './plan-runner.ts';
import type { OperationPlan, SubscriptionPlan } from './plans.ts';
import { gatewayFailure, withoutServiceNames, variableErrors } from './results.ts';

/** Executes validated operations: queries and mutations at once, subscriptions event by event. */
export interface Execution extends GraphqlExecutor {
  /** Ends every open subscription, and later ones at once. */
  close(): void;
}

export interface ExecutionOptions extends PlanRunnerOptions {
  readonly documents: Documents;
}

/** Each error contains the whole value: more of them would make a large response of a small request. */
const MAX_VARIABLE_ERRORS = 5;

/** Makes the execution over a planner, its documents and the links. */
export function createExecution({ documents, ...options }: ExecutionOptions): Execution {
  const { planner, links, logger } = options;
  const runner = createPlanRunner(options);
  const closing = new AbortController();

  const planned = (request: GraphqlRequest): Planned => {
    const { document, errors } = documents.prepare(request.query);
    if (errors !== undefined) return { refused: { errors } };
    const plan = planner.planOf(document, request.operationName);
    const refused = refusedVariables(plan.operation, request);
    return refused === undefined ? { plan } : { refused };
  };
  const failed = (thrown: unknown, { context }: GraphqlRequest) => gatewayFailure(thrown, context, logger);
  const subscribePlanned = async (
    plan: SubscriptionPlan,
    request: GraphqlRequest,
  ): Promise<ResultStream | ExecutionResult> => {
    const { primary } = plan;
    const started = await linkTo(links, primary.serviceName).subscribe(fetchRequest(primary, request));
    if (!isStream<ExecutionResult>(started)) return withoutServiceNames(started);
    return mapStream<ExecutionResult, ExecutionResult>({
      source: started,
      map: (event) => runner.runEvent(plan, request, event),
      failed: (thrown) => failed(thrown, request),
      signals: [request.context.signal, closing.signal],
    });
  };

  return {
    async execute(request) {
      try {
        const { plan, refused } = planned(request);
        if (refused !== undefined) return refused;
        if (plan.kind === 'subscription') throw notHere('a subscription needs graphql-ws, SSE or multipart');
        return await runner.runRequest(plan, request);
      } catch (thrown) {
        return failed(thrown, request);
      }
    },
    async subscribe(request) {
      try {
        const { plan, refused } = planned(request);
        if (refused !== undefined) return refused;
        if (plan.kind === 'request') throw notHere('this operation is no subscription');
        return await subscribePlanned(plan, request);
      } catch (thrown) {
        return failed(thrown, request);
      }
    },
    close: () => closing.abort(),
  };
}

type Planned =
  | { readonly plan: OperationPlan; readonly refused?: undefined }
  | { readonly plan?: undefined; readonly refused: ExecutionResult };

function notHere(message: string): AppError {
  return new AppError('BAD_USER_INPUT', message);
}

function refusedVariables(
  { schema, operation }: OperationContext,
  { variables }: GraphqlRequest,
): ExecutionResult | undefined {
  const definitions = operation.variableDefinitions ?? [];
  if (definitions.length === 0) return undefined;
  const { errors } = getVariableValues(schema, definitions, variables, { maxErrors: MAX_VARIABLE_ERRORS });
  return errors === undefined ? undefined : variableErrors(errors);
}
