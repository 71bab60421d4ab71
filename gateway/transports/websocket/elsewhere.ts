import type { IncomingMessage } from 'node:http';

import type { ExecutionResult } from 'graphql';

import type { OperationRequest } from '../admission/read-operation.ts';

/** One operation of a WebSocket that is run elsewhere, in its caller's name. */
export interface OperationElsewhere {
  /** A query or a mutation. Resolves with UNAVAILABLE as an error where nobody answers. */
  execute(signal: AbortSignal): Promise<ExecutionResult>;
  /** A subscription: its results, and UNAVAILABLE as the last one where the connection was lost. */
  subscribe(signal: AbortSignal): AsyncGenerator<ExecutionResult>;
}

/** The socket on which an operation came. */
export interface SocketOfOperation {
  readonly request: IncomingMessage;
  /** From connection_init; else the header of the upgrade counts. */
  readonly authorization?: string | undefined;
}

/** Finds who runs an operation elsewhere; null where this process does. */
export type FindElsewhere = (
  operation: OperationRequest,
  socket: SocketOfOperation,
) => OperationElsewhere | null;
