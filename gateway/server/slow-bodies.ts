import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** The slowest body that is read to its end. */
export interface SlowBodyOptions {
  /** Milliseconds that a body is given before its rate counts, and over which its rate is taken. */
  readonly windowMs: number;
  /** Fewest bytes a second. */
  readonly minRate: number;
}

/** A phone at the edge of its network sends more; 400 connections that send a byte now and then end within a minute. */
export const SLOW_BODIES: SlowBodyOptions = { windowMs: 20_000, minRate: 1_000 };

interface Watched {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  bytes: number;
  since: number;
}

/** Ends requests (408) whose bodies come slower than the rate. What we ourselves do not read yet does not count. */
export function endSlowBodies(server: Server, { windowMs, minRate }: SlowBodyOptions): void {
  const watched = new Set<Watched>();

  function check(body: Watched, now: number): void {
    const { request, response } = body;
    if (request.complete || request.destroyed) return void watched.delete(body);
    const bytes = bytesReadBy(request);
    // Bytes that wait to be read: the rate is ours, not the client's.
    if (request.readableLength > 0) Object.assign(body, { bytes, since: now });
    if (now - body.since < windowMs) return;
    if (bytes - body.bytes >= (minRate * (now - body.since)) / 1_000)
      return void Object.assign(body, { bytes, since: now });
    watched.delete(body);
    refuse(request.socket, response);
  }

  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const hasBody =
      request.headers['transfer-encoding'] !== undefined ||
      Number(request.headers['content-length'] ?? 0) > 0;
    if (!hasBody) return;
    const body = { request, response, bytes: bytesReadBy(request), since: performance.now() };
    watched.add(body);
    request.once('close', () => watched.delete(body));
  });
  const timer = setInterval(() => {
    const now = performance.now();
    for (const body of watched) check(body, now);
  }, windowMs / 4);
  timer.unref();
  server.once('close', () => clearInterval(timer));
}

function bytesReadBy({ socket }: IncomingMessage): number {
  return socket.bytesRead;
}

function refuse(socket: Duplex, { headersSent }: ServerResponse): void {
  if (!headersSent)
    socket.write('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  setTimeout(() => socket.destroy(), 100).unref();
}
