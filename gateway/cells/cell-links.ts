import { type RequestHandler, Router } from 'express';
import type { ExecutionResult } from 'graphql';
import { createClient } from 'graphql-ws';
import { request } from 'undici';
import { WebSocket } from 'ws';

import { toError } from '../../platform/errors.ts';
import { endClient } from '../../platform/graphql/links/socket-clients.ts';
import { codedError } from '../../platform/graphql/operations/errors.ts';
import type { Logger } from '../../platform/process/logger.ts';
import type { CallerLookup } from '../authentication/credentials.ts';
import { requireContext } from '../request/request-context.ts';
import type { OperationRequest } from '../transports/admission/read-operation.ts';
import type {
  FindElsewhere,
  OperationElsewhere,
  SocketOfOperation,
} from '../transports/websocket/elsewhere.ts';
import type { Cells } from './cells-file.ts';
import { askHomeCell } from './home-callers.ts';
import { cellOfAddress, cellOfOperation } from './named-cells.ts';
import { createCellProxy, PASSED_ON } from './pass-on.ts';
import { type CellSteps, passOnToCells } from './step.ts';

/** What a gateway does with the other cells. */
export interface CellLinks {
  readonly cells: Cells;
  /** Passes requests that are for another cell on to it. */
  readonly steps: CellSteps;
  /** Asks the home cell about credentials; null in the home cell itself. */
  readonly lookup: CallerLookup | null;
  /** Finds the cell that runs an operation of a WebSocket. */
  readonly elsewhere: FindElsewhere;
  close(): Promise<void>;
}

/** Makes the links; connections are made when they are first needed. */
export function createCellLinks({
  cells,
  logger,
  isOpen = false,
  silenceMs = SILENCE_MS,
}: {
  readonly cells: Cells;
  readonly logger: Logger;
  /** Whether nobody needs a credential (default: no). */
  readonly isOpen?: boolean;
  /** Milliseconds after which a socket to another cell that says nothing is given up (default 30,000: a gateway pings each 12). */
  readonly silenceMs?: number;
}): CellLinks {
  const proxy = createCellProxy({ cells, logger });
  const homeUrl = cells.home === cells.own ? undefined : cells.urls.get(cells.home);
  const home = homeUrl === undefined ? null : askHomeCell(homeUrl);
  return {
    cells,
    steps: passOnToCells({ cells, proxy, isOpen }),
    lookup: home?.lookup ?? null,
    elsewhere: (operation, socket) => operationElsewhere({ cells, silenceMs }, operation, socket),
    async close() {
      await Promise.all([proxy.close(), home?.close()]);
    },
  };
}

const MAX_MESSAGE_BYTES = 8_000_000;
const HANDSHAKE_TIMEOUT_MS = 5_000;
/** Twice what passes between two pings of a gateway, and a little more. */
const SILENCE_MS = 30_000;

/** Finds who runs an operation of a socket; null where this cell does. */
function operationElsewhere(
  { cells, silenceMs }: { readonly cells: Cells; readonly silenceMs: number },
  operation: OperationRequest,
  { request, authorization = request.headers.authorization }: SocketOfOperation,
): OperationElsewhere | null {
  if (request.headers[PASSED_ON] !== undefined) return null;
  const cell = cellOfAddress(request.url ?? '/', cells) ?? cellOfOperation(operation, cells);
  const url = cell === null ? undefined : cells.urls.get(cell);
  if (cell === null || url === undefined) return null;
  const follow = (signal: AbortSignal) =>
    resultsFrom({ url, own: cells.own, cell, silenceMs, operation, authorization, signal });
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
  readonly silenceMs: number;
  readonly operation: OperationRequest;
  readonly authorization: string | undefined;
  readonly signal: AbortSignal;
}): AsyncGenerator<ExecutionResult> {
  const { cell, operation, authorization, signal } = options;
  const client = createClient({
    url: `${options.url.replace(/^http/, 'ws')}/graphql`,
    ...(authorization !== undefined && { connectionParams: { authorization } }),
    retryAttempts: 0,
    webSocketImpl: socketThatSays(options),
  });
  const end = (): void => void endClient(client);
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
function socketThatSays({ own, silenceMs }: { readonly own: number; readonly silenceMs: number }) {
  return Object.assign(
    function BoundedWebSocket(address: string, protocol: string) {
      const socket = new WebSocket(address, protocol, {
        maxPayload: MAX_MESSAGE_BYTES,
        handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
        headers: { [PASSED_ON]: String(own) },
      });
      // A machine that is lost closes nothing.
      const silence = setTimeout(() => socket.terminate(), silenceMs);
      for (const sign of ['ping', 'message']) socket.on(sign, () => silence.refresh());
      socket.once('close', () => clearTimeout(silence));
      return socket;
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

/** What a cell says of itself and of the others. */

const TIMEOUT_MS = 2_000;
const NO_OTHERS: ReadonlyMap<number, string> = new Map();

/**
 * Serves `GET /cells`, all cells and whether they are ready, for administrators; none where there is only this one. With others
 * also `GET /caller`, whom the credential of the request stands for (204: nobody that this cell knows), which they ask for.
 */
export function serveCells(links: CellLinks | undefined, counted: RequestHandler): Router {
  const router = Router();
  if (links !== undefined) router.get('/caller', counted, answerCaller);
  router.get('/cells', counted, async (asked, response) => {
    response.set('Cache-Control', 'no-store');
    if (!requireContext(asked).caller.scopes.includes('admin')) {
      response.status(403).json({ message: 'this needs an administrator: sign in as one' });
      return;
    }
    const { own = 0, home = 0, urls = NO_OTHERS } = links?.cells ?? {};
    const cells = await Promise.all(
      [...urls].map(async ([number, url]) => ({ number, url, ready: await isReady(url) })),
    );
    response.json({ own, home, cells });
  });
  return router;
}

const answerCaller: RequestHandler = (asked, response) => {
  const {
    kind,
    id,
    scopes,
    generators = null,
    sessionId = null,
    expiresAt = null,
  } = requireContext(asked).caller;
  response.set('Cache-Control', 'no-store');
  if (kind === 'user' || kind === 'key')
    response.json({ kind, id, scopes, generators, sessionId, expiresAt });
  else response.status(204).end();
};

async function isReady(url: string): Promise<boolean> {
  try {
    const { statusCode, body } = await request(`${url}/readyz`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    await body.dump();
    return statusCode === 200;
  } catch {
    // Whoever does not answer is not ready.
    return false;
  }
}
