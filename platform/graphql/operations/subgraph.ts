import type { DocumentNode, ExecutionResult, GraphQLSchema } from 'graphql';

import type { RequestContext, ResultStream } from './executor.ts';

/** A subgraph: its schema, and a new context (with new loaders) for each request or event. */
export interface Subgraph {
  readonly name: 'media' | 'workflow';
  readonly schema: GraphQLSchema;
  contextFor(request: RequestContext): object;
}

/**
 * Link to a subgraph: in this process (local-link.ts) or over HTTP and graphql-ws (remote-link.ts). The gateway and the
 * workflow subgraph's media client use it.
 */
export interface SubgraphLink {
  /** Runs a query or mutation. Errors have `extensions.code`; unknown ones are masked and logged already. */
  execute(request: SubgraphRequest): Promise<ExecutionResult>;
  /** Starts a subscription. */
  subscribe(request: SubgraphRequest): Promise<ResultStream | ExecutionResult>;
  /** Throws when the subgraph can't answer (readiness). */
  check(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** One operation for one subgraph, from the planner or another process. */
export interface SubgraphRequest {
  readonly query: string;
  /** The parsed query, when it is known (from the planner); saves parsing. */
  readonly document?: DocumentNode;
  readonly operationName?: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly context: RequestContext;
}
