import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

import { toError } from '../../platform/errors.ts';
import type { Logger } from '../../platform/process/logger.ts';

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
  /** Takes requests for WebSockets; it owns their sockets. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  readonly logger: Logger;
}

/** Listens. A request whose Host is not a loopback name is refused, against DNS rebinding. */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const server = createServer((request, response) => {
    if (!isLoopbackName(request.headers.host)) {
      response.writeHead(403).end();
      return;
    }
    options
      .serve(request, response)
      .catch((thrown: unknown) => failRequest(response, thrown, options.logger));
  });
  const upgraded = new Set<Duplex>();
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy()); // the peer disconnected
    if (!isLoopbackName(request.headers.host)) {
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
      return;
    }
    upgraded.add(socket.once('close', () => upgraded.delete(socket)));
    options.upgrade(request, socket, head);
  });
  server.keepAliveTimeout = 30_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  return { origin: readOrigin(server, options.host), close: () => close(server, upgraded) };
}

function readOrigin(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

async function close(server: Server, upgraded: ReadonlySet<Duplex>): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
    for (const socket of upgraded) socket.destroy();
  });
}

/** Answers 500 to a request that failed unexpectedly. */
export function failRequest(response: ServerResponse, thrown: unknown, logger: Logger): void {
  if (response.destroyed) return; // the client disconnected
  logger.error({ error: toError(thrown) }, 'a sandbox request failed');
  if (response.headersSent) response.destroy();
  else response.writeHead(500, { connection: 'close' }).end();
}

function isLoopbackName(host: string | undefined): boolean {
  return host !== undefined && /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(host);
}

/** The request body is too large. */
export class BodyTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`the request body is larger than ${maxBytes} bytes`);
    this.name = 'BodyTooLarge';
  }
}

/** Reads a whole request body. Throws BodyTooLarge beyond `maxBytes`, after which the connection cannot be used again. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new BodyTooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}
