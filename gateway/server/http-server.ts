import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** The HTTP server: its timeouts, start and stop. */

/** Uploads may take long; this bounds a client that sends byte by byte. */
const REQUEST_TIMEOUT_MS = 3_600_000;
const HEADERS_TIMEOUT_MS = 20_000;
/**
 * Most bytes of a request's line and headers; beyond them 431. Some operations take their prompt in the query, where a
 * character may need twelve bytes: the longest prompt must fit.
 */
const MAX_HEADER_BYTES = 64 * 1024;
/** Longer than the idle timeout of common load balancers (60 s), so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** Interval in which a stopping server closes idle connections. */
const SWEEP_MS = 50;

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

/** Starts listening; port 0 takes a free one. Returns the URL. */
export async function listenOn(server: Server, host: string, port: number): Promise<{ url: string }> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { address, family, port: actual } = server.address() as AddressInfo;
  return { url: `http://${family === 'IPv6' ? `[${address}]` : address}:${actual}` };
}

/**
 * Stops accepting connections; resolves when the last one has ended. Idle ones are closed at once, others after their
 * response.
 */
export async function stopAccepting(server: Server): Promise<void> {
  if (!server.listening) return;
  server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
    response.setHeader('Connection', 'close');
  });
  // A connection whose response began before stays open for the next request; it is closed when idle.
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  clearInterval(sweep);
}
