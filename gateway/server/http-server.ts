import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';

import { addressKeyOf } from '../../platform/access/client-key.ts';
import { KEEP_ALIVE_TIMEOUT_MS } from '../../platform/http/server.ts';
import { createSlots } from '../limits/slots.ts';
import { createTrust } from '../request/client-address.ts';
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
    const slot = slots.take(addressKeyOf(address));
    if (slot === null) socket.destroy();
    else socket.once('close', () => slot.release());
  });
}
