import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';

import { createAddressKey } from '../../platform/access/caller.ts';
import { KEEP_ALIVE_TIMEOUT_MS, stopAccepting } from '../../platform/http/server.ts';
import type { Logger } from '../../platform/process/logger.ts';
import { createSlots } from '../limits/slots.ts';
import { createTrust } from '../request/client-address.ts';
import type { ResponseStreams } from '../transports/streams/response-stream.ts';
import type { WebSocketTransport } from '../transports/websocket/websocket.ts';
import { endSlowBodies, SLOW_BODIES, type SlowBodyOptions } from './slow-bodies.ts';

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

/** What answers over HTTP may take of memory while their clients do not read them. */
interface SlowReaderOptions {
  /** Milliseconds without progress, while much waits, after which a client is disconnected (default 30,000). */
  readonly stallMs?: number | undefined;
  /** Most bytes that wait for all clients together (default 48,000,000). */
  readonly unreadBytes?: number | undefined;
  readonly logger: Logger;
}

/** What a client that reads may have waiting at any time. */
const USUAL_BYTES = 250_000;
const POLL_INTERVAL_MS = 250;

interface Watched {
  /** Bytes that the system has taken, at the last look. */
  taken: number;
  /** When it took any, or little was waiting. */
  movedAt: number;
}

/**
 * Disconnects clients that do not read their answers: each after a while, and when too much waits for all together at once,
 * who has read nothing for longest first. WebSockets have a watch of their own.
 */
function endSlowReaders(
  server: Server,
  { stallMs = 30_000, unreadBytes = 48_000_000, logger }: SlowReaderOptions,
): void {
  const watched = new Map<Socket, Watched>();

  function disconnect(socket: Socket, why: string): void {
    const waiting = socket.writableLength;
    logger.warn({ why, bufferedBytes: waiting }, 'disconnected a client that does not read its answer');
    watched.delete(socket);
    socket.destroy();
  }
  function look(): void {
    const now = performance.now();
    const slow: (readonly [Socket, Watched])[] = [];
    let sum = 0;
    for (const [socket, state] of watched) {
      const waiting = socket.writableLength;
      if (waiting < USUAL_BYTES) {
        state.movedAt = now;
        continue;
      }
      const taken = socket.bytesWritten - waiting;
      if (taken !== state.taken) Object.assign(state, { taken, movedAt: now });
      if (now - state.movedAt >= stallMs) disconnect(socket, 'stalled');
      else {
        sum += waiting;
        slow.push([socket, state]);
      }
    }
    if (sum <= unreadBytes) return;
    // Of those that stand as long, the one for whom most waits.
    slow.sort(
      ([one, { movedAt: a }], [other, { movedAt: b }]) => a - b || other.writableLength - one.writableLength,
    );
    for (const [socket] of slow) {
      if (sum <= unreadBytes) return;
      sum -= socket.writableLength;
      disconnect(socket, 'too much waits for all');
    }
  }

  server.on('connection', (socket: Socket) => {
    watched.set(socket, { taken: 0, movedAt: performance.now() });
    socket.once('close', () => watched.delete(socket));
  });
  server.on('upgrade', ({ socket }: IncomingMessage) => void watched.delete(socket));
  const timer = setInterval(look, POLL_INTERVAL_MS);
  timer.unref();
  server.once('close', () => clearInterval(timer));
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
