import { createServer, type RequestListener, type Server } from 'node:http';

import { KEEP_ALIVE_TIMEOUT_MS } from '../../platform/http/server.ts';

/** Uploads may take long; this bounds a client that sends byte by byte. */
const REQUEST_TIMEOUT_MS = 3_600_000;
const HEADERS_TIMEOUT_MS = 20_000;
/**
 * Most bytes of a request's line and headers; beyond them 431. Some operations take their prompt in the query, where a
 * character may need twelve bytes: the longest prompt must fit.
 */
const MAX_HEADER_BYTES = 64 * 1024;

/** Makes a server that is not listening yet. */
export function createHttpServer(app: RequestListener): Server {
  const server = createServer(
    {
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
    },
    app,
  );
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
  return server;
}
