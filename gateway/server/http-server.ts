import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** The HTTP server below the door: its timeouts, its start and its end. */

/** An upload may take long; an hour bounds a client that sends byte by byte. */
const REQUEST_TIMEOUT_MS = 3_600_000;
const HEADERS_TIMEOUT_MS = 20_000;
/**
 * Most bytes of a request's line and headers; beyond them 431. Some operations take their prompt in the query, where a
 * character may need nine bytes (`%E7%8C%AB`) or, outside the basic plane, twelve: the longest prompt must fit.
 */
const MAX_HEADER_BYTES = 64 * 1024;
/** Longer than the idle timeout of common load balancers (60 s), so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** How often a stopping server looks for connections that have become idle. */
const SWEEP_MS = 50;

/** Makes a server that does not listen yet. */
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

/** Starts listening; port 0 takes a free one. Answers the address it listens on. */
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

/** Takes no new connections from now on; resolves when the last connection has ended. Idle ones are closed at once, busy ones after their answer. */
export async function stopAccepting(server: Server): Promise<void> {
  if (!server.listening) return;
  server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
    response.setHeader('Connection', 'close');
  });
  // A connection whose answer was begun before stays open for the next request; close it when it is idle.
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  clearInterval(sweep);
}
