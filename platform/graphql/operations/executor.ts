import type { ServerResponse } from 'node:http';

import type { ExecutionResult } from 'graphql';

import type { Caller } from '../../access/caller.ts';

/** The context of every GraphQL request. */
export interface RequestContext {
  readonly caller: Caller;
  /** Aborted when the caller hangs up: waiting stops, started work goes on. */
  readonly signal: AbortSignal;
  /** Those of the caller's request, for rules that send some on; absent where it has none. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The response to it, for rules that send headers of subgraphs back; absent where it has none of its own. */
  readonly response?: Pick<ServerResponse, 'headersSent' | 'getHeader' | 'setHeader' | 'appendHeader'>;
}

/** Runs GraphQL operations over the whole federated schema, for REST, HTTP, WebSocket, SSE and multipart. */
export interface GraphqlExecutor {
  /** Runs a query or mutation. Never throws: failures are in `errors`. */
  execute(request: GraphqlRequest): Promise<ExecutionResult>;
  /** Starts a subscription: a stream of results, or one result with errors when it was refused. */
  subscribe(request: GraphqlRequest): Promise<ResultStream | ExecutionResult>;
}

/** One operation of one caller. */
export interface GraphqlRequest {
  readonly query: string;
  readonly operationName?: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly context: RequestContext;
  /** The way it came, for the metrics (default: http). */
  readonly transport?: 'http' | 'sse' | 'multipart' | 'websocket' | 'rest';
}

/** A stream of results. `return()` ends the source at once, also while a `next()` is pending. */
export type ResultStream = AsyncIterableIterator<ExecutionResult>;
