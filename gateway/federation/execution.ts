import type { DocumentNode, ExecutionResult, GraphQLSchema } from 'graphql';

import { AppError } from '../../platform/errors.ts';
import { answerBytes, type AnswerParts } from '../../platform/graphql/operations/answers.ts';
import type { Documents, SharedForm } from '../../platform/graphql/operations/documents.ts';
import type { GraphqlExecutor, GraphqlRequest } from '../../platform/graphql/operations/executor.ts';
import type { SubgraphLink } from '../../platform/graphql/operations/subgraph.ts';
import { noMetrics, type Metrics } from '../../platform/metrics/metrics.ts';
import type { Logger } from '../../platform/process/logger.ts';
import { inSpan } from '../../platform/tracing/span.ts';
import type { RunInput } from './compiled/run.ts';
import { completedParts } from './deferred/plan-parts.ts';
import { createOperationMeter } from './measure-operations.ts';
import type { OperationContext } from './operation/operation-context.ts';
import type { OperationPlan, Planner } from './plans.ts';
import { refusedOperation, type RefuseRootField } from './refused-operation.ts';
import { gatewayFailure, renamedResult, variableErrors } from './results.ts';
import { createOpenStreams, createSubscribing } from './subscribing.ts';

/** Executes validated operations: queries and mutations at once, subscriptions event by event. */
export interface Execution extends GraphqlExecutor {
  /** Runs a query or mutation, in parts where something of it is deferred. Never throws. */
  executeInParts(request: GraphqlRequest): Promise<AnswerParts | ExecutionResult>;
  /** Ends every open subscription, and later ones at once. */
  close(): void;
}

export interface ExecutionOptions {
  readonly planner: Planner;
  readonly documents: Documents;
  /** The way to each subgraph, by its name in the supergraph. */
  readonly links: Readonly<Record<string, SubgraphLink>>;
  readonly logger: Logger;
  /** Of this process (default: none). */
  readonly metrics?: Metrics | undefined;
  /** Why a caller may not use a root field. */
  readonly refuseRootField?: RefuseRootField | undefined;
  /** What callers may see, where the supergraph says so. */
  readonly authorize?: Authorize | undefined;
  /** Most events of one subscription that are joined at once (default 1). */
  readonly concurrentEvents?: number | undefined;
  /** What operations cost, where that is counted. */
  readonly costs?: Costs | undefined;
}

/** Counts what operations cost. */
export interface Costs {
  /** The refusal of one that is estimated to cost too much; null for others. */
  refuse(operation: OperationContext, variables: GraphqlRequest['variables']): ExecutionResult | null;
  /** The result, with its costs where callers are told. */
  complete(
    operation: OperationContext,
    variables: GraphqlRequest['variables'],
    result: ExecutionResult,
  ): ExecutionResult;
}

/** What of an operation a caller may see; null where that is all of it. */
export type Authorize = (
  request: GraphqlRequest,
  document: DocumentNode,
  schema: GraphQLSchema,
) => Permitted | null;

/** A part of an operation, and what tells its caller of the rest. */
interface Permitted {
  readonly document: DocumentNode;
  /** Absent where something is left to be asked for. */
  readonly refused?: ExecutionResult | undefined;
  readonly complete: (result: ExecutionResult) => ExecutionResult;
}

/** Makes the execution over a planner, its documents and the links. */
export function createExecution(options: ExecutionOptions): Execution {
  const { planner, documents, links, logger, metrics = noMetrics, concurrentEvents = 1 } = options;
  const open = createOpenStreams();
  const meter = createOperationMeter(metrics);

  const planned = createPlanned(options);
  const failed = (thrown: unknown, { query, context }: GraphqlRequest): ExecutionResult => {
    const failure = gatewayFailure(thrown, context, logger);
    const { form } = documents.prepare(query);
    return form === undefined ? failure : renamedResult(failure, form);
  };
  const toRunInput = ({ variables, context }: GraphqlRequest): RunInput => ({
    variables,
    context,
    links,
    failure: (thrown) => gatewayFailure(thrown, context, logger),
  });
  const subscribePlanned = createSubscribing({ open, toRunInput, failed, concurrentEvents });

  const execute: Execution['execute'] = async (request) => {
    try {
      const { plan, refused, form, complete } = planned(request);
      if (refused !== undefined) return refused;
      if (plan.kind === 'subscription') throw notHere('a subscription needs graphql-ws, SSE or multipart');
      const input = toRunInput(withValues(request, form));
      const ran = await meter.measure(plan.operation, request, () => plan.compiled.run(input));
      if (complete === undefined && (form === undefined || form.names.size === 0)) return ran;
      // What is changed is no longer what a subgraph has answered.
      const own = answerBytes(ran) === undefined ? ran : { data: ran.data ?? null };
      const result = complete === undefined ? own : complete(own);
      return form === undefined ? result : renamedResult(result, form);
    } catch (thrown) {
      return failed(thrown, request);
    }
  };
  return {
    execute,
    async executeInParts(request) {
      try {
        const { plan, refused, form, complete, whole } = planned(request);
        if (refused !== undefined) return refused;
        // Who may see a part only, or shares a plan, is answered at once.
        if (whole === undefined || form !== undefined) return await execute(request);
        const parts = planner.planParts(whole, request.operationName, request.variables);
        if (parts === null) return await execute(request);
        const running = await meter.measure(plan.operation, request, () => parts.run(toRunInput(request)));
        return complete === undefined ? running.parts : completedParts(running, complete);
      } catch (thrown) {
        return failed(thrown, request);
      }
    },
    async subscribe(request) {
      try {
        const { plan, refused, complete } = planned(request);
        if (refused !== undefined) return refused;
        if (plan.kind === 'request') throw notHere('this operation is no subscription');
        return await meter.measure(plan.operation, request, () => subscribePlanned(plan, request, complete));
      } catch (thrown) {
        return failed(thrown, request);
      }
    },
    close: () => open.close(),
  };
}

/** Makes what prepares a request: its plan, or its refusal. */
function createPlanned(options: ExecutionOptions): (request: GraphqlRequest) => Planned {
  const { planner, documents, authorize, costs } = options;
  return (request) => {
    const { document, form, errors } = documents.prepare(request.query);
    if (errors !== undefined) return { refused: { errors } };
    const isKnown = planner.hasPlan(document, request.operationName);
    const refused = isKnown ? null : refusedOperation(document, request, options);
    if (refused !== null) return { refused: form === undefined ? refused : renamedResult(refused, form) };
    const part = authorize?.(request, document, planner.apiSchema) ?? null;
    if (part?.refused !== undefined) return { refused: part.refused };
    const plan = planIn(part, { planner, document, operationName: request.operationName, isKnown });
    const { variables } = withValues(request, form);
    const { errors: misfits } = plan.coerceVariables(variables);
    if (misfits !== undefined) return { refused: variableErrors(misfits) };
    const excess = costs?.refuse(plan.operation, variables) ?? null;
    if (excess !== null) return { refused: excess };
    const complete =
      costs === undefined
        ? part?.complete
        : (result: ExecutionResult) =>
            costs.complete(plan.operation, variables, part?.complete(result) ?? result);
    return { plan, form, complete, whole: part === null ? document : undefined };
  };
}

interface Planning {
  readonly planner: Planner;
  readonly document: DocumentNode;
  readonly operationName: string | undefined;
  /** Whether the whole operation has been planned before: to find its plan again is no work that a trace shows. */
  readonly isKnown: boolean;
}

/** The plan of an operation, or of what its caller may see of it. */
function planIn(
  part: Permitted | null,
  { planner, document, operationName, isKnown }: Planning,
): OperationPlan {
  if (part === null && isKnown) return planner.findPlan(document, operationName);
  return inSpan('plan', {}, () =>
    part === null
      ? planner.findPlan(document, operationName)
      : planner.planOfPart(document, operationName, part.document),
  );
}

/** A request with the literals that are variables of the document which is run. */
function withValues(request: GraphqlRequest, form: SharedForm | undefined): GraphqlRequest {
  return form === undefined ? request : { ...request, variables: { ...request.variables, ...form.values } };
}

type Planned =
  | {
      readonly plan: OperationPlan;
      readonly form: SharedForm | undefined;
      readonly complete: Permitted['complete'] | undefined;
      /** The document where its caller may see all of it. */
      readonly whole: DocumentNode | undefined;
      readonly refused?: undefined;
    }
  | {
      readonly plan?: undefined;
      readonly form?: undefined;
      readonly complete?: undefined;
      readonly whole?: undefined;
      readonly refused: ExecutionResult;
    };

function notHere(message: string): AppError {
  return new AppError('BAD_USER_INPUT', message);
}
