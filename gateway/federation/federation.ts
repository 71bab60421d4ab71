import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  type ValidationRule,
  getNamedType,
  isLeafType,
  printType,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';

import type { AnswerParts } from '../../platform/graphql/operations/answers.ts';
import { createDocuments, type Documents } from '../../platform/graphql/operations/documents.ts';
import type { GraphqlExecutor, GraphqlRequest } from '../../platform/graphql/operations/executor.ts';
import { DEFERS } from '../../platform/graphql/operations/inspect-document.ts';
import type { SubgraphLink } from '../../platform/graphql/operations/subgraph.ts';
import type { Metrics } from '../../platform/metrics/metrics.ts';
import type { Logger } from '../../platform/process/logger.ts';
import { type Authorize, type Costs, createExecution } from './execution.ts';
import { sharedForm } from './operation/shared-form.ts';
import { createPlanner, type Planner, type OperationPlan } from './plans.ts';
import { type RefuseRootField, SubscriptionRootRule } from './refused-operation.ts';
import { createServerGateway, type ServerGateway } from './server-gateway.ts';

/**
 * The federated executor: runs an operation over all subgraphs, for Apollo Server, REST, WebSocket, SSE and multipart
 * alike. Documents are checked, planned by Apollo's planner and compiled (compiled/) once. Apollo's gateway refuses
 * subscriptions, but its planner plans them: the primary fetch subscribes at its subgraph, and each event is run through
 * the rest of the plan as the answer of that fetch.
 */
export interface FederatedExecutor extends GraphqlExecutor {
  /** Runs a query or mutation whose answer may come in parts: what its @defer names follows. Never throws. */
  executeInParts(request: GraphqlRequest): Promise<AnswerParts | ExecutionResult>;
  /** For `new ApolloServer({ gateway })`; its context must be a RequestContext. */
  readonly gateway: ServerGateway;
  /** The schema that callers see. */
  apiSchema(): GraphQLSchema;
  /** The documents that `execute` and `subscribe` run; plans are kept as long as these are. */
  readonly documents: Documents;
  /** Validates and plans an operation before its first use; throws when it is refused (REST documents at the start). */
  plan(query: string, operationName?: string): void;
  /** The operations that it has planned, the last used first. */
  planned(): Iterable<PlannedText>;
  /** What decides how an operation runs and what its answers hold: equal texts in two graphs are one operation. Null where it is not valid. */
  outline(planned: PlannedText): PlanOutline | null;
  /** Ends every open subscription. The links are closed by their owner. */
  close(): Promise<void>;
}

/** An operation of a document. */
interface PlannedText {
  readonly query: string;
  readonly operationName: string | undefined;
}

export interface FederationOptions {
  readonly supergraphSdl: string;
  /** Whether `npm run schema` has composed and checked it (default: no): it is not validated, and read when first used. */
  readonly isChecked?: boolean;
  /** The link to each subgraph of the supergraph. */
  readonly links: Readonly<Record<string, SubgraphLink>>;
  readonly logger: Logger;
  /** Of this process (default: none). */
  readonly metrics?: Metrics | undefined;
  /** Validation rules besides GraphQL's own (depth, aliases, cost), for every transport. */
  readonly validationRules?: readonly ValidationRule[];
  /** Most estimated bytes of documents and plans that are kept (default 64 MB). */
  readonly planCacheBytes?: number | undefined;
  /** Why a caller may not use a root field, where that is known before anything is planned (default: nothing is known). */
  readonly refuseRootField?: RefuseRootField | undefined;
  /** What callers may see of an operation, where the supergraph says so (default: everything). */
  readonly authorize?: Authorize | undefined;
  /** Most events of one subscription that are joined at once, in their order (default 1). */
  readonly concurrentEvents?: number | undefined;
  /** Whether callers may defer parts of an answer (default: no). */
  readonly defers?: boolean | undefined;
  /** What operations cost (default: nothing is counted but by limits of documents). */
  readonly costs?: Costs | undefined;
}

/** Milliseconds after which the planner of a checked supergraph is made, unless an operation has come before. */
const WARM_UP_MS = 300;

/** Makes the executor of a supergraph. Fails when the SDL is invalid or a subgraph has no link. */
export async function createFederation(options: FederationOptions): Promise<FederatedExecutor> {
  const { supergraphSdl, links, logger, validationRules = [] } = options;
  const planner = createPlanner(supergraphSdl, options);
  const warmUp =
    options.isChecked === true ? setTimeout(() => planner.warmUp(), WARM_UP_MS).unref() : undefined;
  // Whose supergraph is another one learns of its mistakes at the start.
  if (options.isChecked !== true) for (const { name } of planner.subgraphs) requireLink(links, name);
  const documents = createDocuments({
    get schema() {
      return planner.apiSchema;
    },
    rules: [...validationRules, SubscriptionRootRule],
    // Texts that may come in parts have documents of their own.
    share: (query, document) =>
      options.defers === true && DEFERS.test(query) ? null : sharedForm(planner.apiSchema, query, document),
    maxBytes: options.planCacheBytes,
  });
  options.metrics?.gauge('kiln_plan_cache_bytes', 'Estimated bytes of documents and their plans.', [], () => [
    { value: documents.bytes },
  ]);
  const execution = createExecution({
    planner,
    documents,
    links,
    logger,
    metrics: options.metrics,
    refuseRootField: options.refuseRootField,
    authorize: options.authorize,
    costs: options.costs,
    concurrentEvents: options.concurrentEvents,
  });
  const schema = () => ({ supergraphSdl, apiSchema: planner.apiSchema });
  return {
    gateway: createServerGateway(schema, execution).gateway,
    execute: (request) => execution.execute(request),
    executeInParts: (request) => execution.executeInParts(request),
    subscribe: (request) => execution.subscribe(request),
    apiSchema: () => planner.apiSchema,
    documents,
    plan(query, operationName) {
      const { document, errors } = documents.prepare(query);
      if (errors !== undefined)
        throw new AggregateError(errors, errors.map(({ message }) => message).join('; '));
      warmPlans(planner, document, operationName);
    },
    *planned() {
      for (const { query, document } of documents.all()) {
        for (const name of planner.plannedNames(document)) yield { query, operationName: name || undefined };
      }
    },
    outline({ query, operationName }) {
      const { document } = documents.prepare(query);
      return document === undefined
        ? null
        : outlinePlan(planner.apiSchema, document, planner.findPlan(document, operationName));
    },
    async close() {
      clearTimeout(warmUp);
      execution.close();
    },
  };
}

function requireLink(links: FederationOptions['links'], name: string): SubgraphLink {
  const link = links[name];
  if (link === undefined) throw new Error(`no link to the subgraph ${JSON.stringify(name)}`);
  return link;
}

/** Makes the plans of an operation: the one in parts, and the one that is otherwise made when it is run first. */
function warmPlans(planner: Planner, document: DocumentNode, operationName: string | undefined): void {
  planner.planParts(document, operationName, {});
  void planner.findPlan(document, operationName).plan;
}

/** What decides how an operation runs and what its answers hold. */
interface PlanOutline {
  /** Its plan, and the types of its fields. */
  readonly text: string;
  /** The subgraphs that it asks. */
  readonly subgraphs: readonly string[];
}

/** Outlines a planned operation. */
function outlinePlan(schema: GraphQLSchema, document: DocumentNode, { plan }: OperationPlan): PlanOutline {
  const types = new Set<string>();
  const info = new TypeInfo(schema);
  visit(
    document,
    visitWithTypeInfo(info, {
      Field({ name }) {
        const type = info.getType();
        types.add(`${String(info.getParentType())}.${name.value}: ${String(type)}`);
        const leaf = type && getNamedType(type);
        if (isLeafType(leaf)) types.add(printType(leaf));
      },
      Argument({ name }) {
        types.add(`${name.value}: ${String(info.getInputType())}`);
      },
    }),
  );
  const subgraphs = new Set<string>();
  const text = JSON.stringify(plan, (key, value: unknown) => {
    if (key === 'serviceName') subgraphs.add(String(value));
    return key === 'operationDocumentNode' ? undefined : value;
  });
  return { text: [text, ...[...types].toSorted()].join('\n'), subgraphs: [...subgraphs] };
}
