import type { DocumentNode, ExecutionResult, GraphQLSchema } from 'graphql';

import type { RequestContext, ResultStream } from './executor.ts';

/** A subgraph as its folder makes it: a schema, and a fresh context (with fresh loaders) for each request or event. */
export interface Subgraph {
  readonly name: 'media' | 'workflow';
  readonly schema: GraphQLSchema;
  contextFor(request: RequestContext): object;
}

/**
 * The way to a subgraph: in this process (local-link.ts) or over HTTP and graphql-ws (remote-link.ts). The gateway's
 * data sources and the workflow subgraph's media client use the same two.
 */
export interface SubgraphLink {
  /** Runs a query or mutation there. Errors carry `extensions.code`; unknown ones are already masked and logged. */
  execute(request: SubgraphRequest): Promise<ExecutionResult>;
  /** Starts a subscription there. */
  subscribe(request: SubgraphRequest): Promise<ResultStream | ExecutionResult>;
  /** Throws when the subgraph can't answer (readiness). */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** One operation for one subgraph, as the planner or another process sends it. */
export interface SubgraphRequest {
  readonly query: string;
  /** The parsed query when the asker has it (the planner does); saves parsing. */
  readonly document?: DocumentNode;
  readonly operationName?: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly context: RequestContext;
}
