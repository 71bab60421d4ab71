import type { ExecutionResult } from 'graphql';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';

import { toError } from '../../platform/errors.ts';
import { codedError } from '../../platform/graphql/operations/errors.ts';
import type { OperationRequest } from '../transports/admission/read-operation.ts';
import type { OperationElsewhere, SocketOfOperation } from '../transports/websocket/elsewhere.ts';
import type { Cells } from './cells-file.ts';
import { cellOfAddress, cellOfOperation } from './named-cells.ts';
import { PASSED_ON } from './pass-on.ts';

const MAX_MESSAGE_BYTES = 8_000_000;
const HANDSHAKE_TIMEOUT_MS = 5_000;

/** Finds who runs an operation of a socket; null where this cell does. */
export function operationElsewhere(
  cells: Cells,
  operation: OperationRequest,
  { request, authorization = request.headers.authorization }: SocketOfOperation,
): OperationElsewhere | null {
  if (request.headers[PASSED_ON] !== undefined) return null;
  const cell = cellOfAddress(request.url ?? '/', cells) ?? cellOfOperation(operation, cells);
  const url = cell === null ? undefined : cells.urls.get(cell);
  if (cell === null || url === undefined) return null;
  const follow = (signal: AbortSignal) =>
    resultsFrom({ url, own: cells.own, cell, operation, authorization, signal });
  return {
    subscribe: follow,
    async execute(signal) {
      for await (const result of follow(signal)) return result;
      return { errors: [unavailable(cell)] };
    },
  };
}

async function* resultsFrom(options: {
  readonly url: string;
  readonly own: number;
  readonly cell: number;
  readonly operation: OperationRequest;
  readonly authorization: string | undefined;
  readonly signal: AbortSignal;
}): AsyncGenerator<ExecutionResult> {
  const { cell, operation, authorization, signal } = options;
  const client = createClient({
    url: `${options.url.replace(/^http/, 'ws')}/graphql`,
    ...(authorization !== undefined && { connectionParams: { authorization } }),
    retryAttempts: 0,
    webSocketImpl: socketThatSays(options.own),
  });
  const end = (): void => void client.dispose();
  signal.addEventListener('abort', end, { once: true });
  try {
    const { query, operationName, variables } = operation;
    yield* client.iterate({ query, operationName, variables }) as AsyncGenerator<ExecutionResult>;
  } catch (thrown) {
    if (!signal.aborted) yield { errors: Array.isArray(thrown) ? thrown : [unavailable(cell, thrown)] };
  } finally {
    signal.removeEventListener('abort', end);
    end();
  }
}

/** graphql-ws calls it with `new`; this way our limits and header reach its WebSocket. */
function socketThatSays(own: number) {
  return Object.assign(
    function BoundedWebSocket(address: string, protocol: string) {
      return new WebSocket(address, protocol, {
        maxPayload: MAX_MESSAGE_BYTES,
        handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
        headers: { [PASSED_ON]: String(own) },
      });
    },
    { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 },
  );
}

function unavailable(cell: number, cause?: unknown) {
  const error = codedError(
    'UNAVAILABLE',
    `cell ${cell}, which this belongs to, does not answer now: try again`,
  );
  error.cause = cause === undefined ? undefined : toError(cause);
  return error;
}
