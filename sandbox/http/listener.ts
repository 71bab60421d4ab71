import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { toError } from '../../platform/errors.ts';
import type { Logger } from '../../platform/logger.ts';

/** A listening HTTP server on loopback. */
export interface Listener {
  /** http://127.0.0.1:PORT */
  readonly origin: string;
  /** Stops accepting and ends every connection. */
  close(): Promise<void>;
}

export interface ListenerOptions {
  readonly host: '127.0.0.1' | '::1';
  readonly port: number;
  readonly serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly logger: Logger;
}

/** Listens. A request whose Host is not a loopback name is refused: a page elsewhere may have re-bound its name to us. */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const server = createServer((request, response) => {
    if (!isLoopbackName(request.headers.host)) {
      response.writeHead(403).end();
      return;
    }
    options.serve(request, response).catch((thrown: unknown) => fail(response, thrown, options.logger));
  });
  server.keepAliveTimeout = 30_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  return { origin: originOf(server, options.host), close: () => close(server) };
}

function originOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

async function close(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function fail(response: ServerResponse, thrown: unknown, logger: Logger): void {
  if (response.destroyed) return; // the caller hung up, and whatever failed failed because of that
  logger.error({ error: toError(thrown) }, 'a sandbox request failed');
  if (response.headersSent) response.destroy();
  else response.writeHead(500, { connection: 'close' }).end();
}

function isLoopbackName(host: string | undefined): boolean {
  return host !== undefined && /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(host);
}
