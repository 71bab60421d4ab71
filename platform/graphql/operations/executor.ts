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
  /**
   * Reserves a stream as the answer to it, counted against its caller and ended with the caller's credential; null when too many
   * are open. Absent where it has no response of its own.
   */
  readonly reserveStream?: (() => StreamPermit | null) | undefined;
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

/** A reserved stream. All that it holds is released when its response closes, also where that happened before it is opened. */
export interface StreamPermit {
  /** Writes the headers and opens the stream, until its caller's credential ends. */
  open(format: StreamFormat): ResponseStream;
}

/** The protocol-specific parts of a stream. */
export interface StreamFormat {
  readonly headers: Readonly<Record<string, string>>;
  /** Written at once, before any result. */
  readonly opening: string;
  /** Written periodically, so that proxies and clients keep the connection. */
  readonly heartbeat: string;
  /** Written when the server stops; clients should reconnect, and not all at once. */
  readonly shutdown: () => string;
  /** Written when the caller's credential has ended; reconnecting with it is refused. */
  readonly credentialEnd: string;
}

/** One open stream. */
export interface ResponseStream {
  /** Writes, and waits while the client does not read. False when the client is gone. */
  send(text: string): Promise<boolean>;
  end(text: string): void;
  /** Calls the listener once when the stream is closed, by either side; at once when it is closed already. */
  onClose(listener: () => void): void;
}
