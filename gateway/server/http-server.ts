import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';

import { createAddressKey } from '../../platform/access/caller.ts';
import { KEEP_ALIVE_TIMEOUT_MS, stopAccepting } from '../../platform/http/server.ts';
import { createSlots } from '../limits/slots.ts';
import { createTrust } from '../request/client-address.ts';
import type { ResponseStreams } from '../transports/streams/response-stream.ts';
import type { WebSocketTransport } from '../transports/websocket/websocket.ts';
import { endSlowBodies, SLOW_BODIES, type SlowBodyOptions } from './slow-bodies.ts';
import { endSlowReaders, type SlowReaderOptions } from './slow-readers.ts';

/** Uploads may take long; this bounds a client that sends byte by byte. */
const REQUEST_TIMEOUT_MS = 3_600_000;
const HEADERS_TIMEOUT_MS = 20_000;
/** Between two looks for connections over these times. */
const CHECKING_MS = 5_000;
/**
 * Most bytes of a request's line and headers; beyond them 431. Some operations take their prompt in the query, where a
 * character may need twelve bytes: the longest prompt must fit.
 */
const MAX_HEADER_BYTES = 64 * 1024;

/** Bounds of the server. */
export interface HttpServerOptions extends SlowReaderOptions {
  /** Most open connections of one address; 0: no bound. */
  readonly connectionLimit?: number;
  /** The slowest body that is read (default SLOW_BODIES). */
  readonly slowBodies?: SlowBodyOptions;
  /** Proxies, which hold the connections of many clients. */
  readonly trustProxy: readonly string[];
}

/** Makes a server that is not listening yet. */
export function createHttpServer(app: RequestListener, options: HttpServerOptions): Server {
  const server = createServer(
    {
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: CHECKING_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
    },
    app,
  );
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
  boundConnections(server, options);
  endSlowBodies(server, options.slowBodies ?? SLOW_BODIES);
  endSlowReaders(server, options);
  return server;
}

/** Destroys connections beyond the limit of their address before anything is read from them. */
function boundConnections(server: Server, { connectionLimit = 0, trustProxy }: HttpServerOptions): void {
  const slots = createSlots(connectionLimit);
  const isTrusted = createTrust(trustProxy);
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    if (isTrusted(address)) return;
    const slot = slots.take(createAddressKey(address));
    if (slot === null) socket.destroy();
    else socket.once('close', () => slot.release());
  });
}

/** What a server that stops has open. */
interface Open {
  readonly httpServer: Server;
  readonly streams: ResponseStreams;
  readonly sockets: WebSocketTransport;
  readonly options: DrainOptions;
}

/** How a server stops. */
export interface DrainOptions {
  /** Milliseconds in which it still serves when it is to stop, and says that it is not ready (default 0). */
  readonly stillServeMs?: number;
  /** Called when requests that wait for work shall answer, because the server stops (default: nobody waits). */
  readonly endWaits?: () => void;
  /** Milliseconds for running requests when the server stops (default 10,000). */
  readonly drainMs?: number;
}

/** Milliseconds for the answers of requests that no longer wait. */
const LAST_ANSWERS_MS = 2_000;

/** Ends what is open: sockets and streams now, requests as they end, the rest when their time is up. */
export async function drain({
  httpServer,
  streams,
  sockets,
  options: { drainMs = 10_000, endWaits },
}: Open): Promise<void> {
  const closed = stopAccepting(httpServer);
  streams.endAll();
  const answer = setTimeout(() => endWaits?.(), Math.max(0, drainMs - LAST_ANSWERS_MS));
  const cut = setTimeout(() => httpServer.closeAllConnections(), drainMs);
  await sockets.close(Math.min(drainMs, 2_000));
  await closed;
  clearTimeout(answer);
  clearTimeout(cut);
}
