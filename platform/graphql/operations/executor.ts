import type { ExecutionResult } from 'graphql';

import type { Caller } from '../../access/caller.ts';

/** What every GraphQL request carries behind the door. */
export interface RequestContext {
  readonly caller: Caller;
  /** Aborted when the caller hangs up; waiting stops, started work does not. */
  readonly signal: AbortSignal;
}

/** Runs a GraphQL operation over the whole federated schema: what REST, WebSocket, SSE and multipart share. */
export interface GraphqlExecutor {
  /** Runs a query or mutation. The text is parsed, validated and planned once, then cached. Never throws: failures are in `errors`. */
  execute(request: GraphqlRequest): Promise<ExecutionResult>;
  /** Starts a subscription: an iterator of results, or one result with errors when it was refused. */
  subscribe(request: GraphqlRequest): Promise<ResultStream | ExecutionResult>;
}

/** One operation of one caller. */
export interface GraphqlRequest {
  readonly query: string;
  readonly operationName?: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly context: RequestContext;
}

/** Results as they come. `return()` ends the source at once, also while a `next()` is pending. */
export type ResultStream = AsyncIterableIterator<ExecutionResult>;
