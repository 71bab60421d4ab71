import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';

import { CloseCode, handleProtocols, makeServer, type WebSocket as ProtocolSocket } from 'graphql-ws';
import { WebSocket, WebSocketServer } from 'ws';

import type { Caller } from '../../../platform/access/caller.ts';
import { clientKeyOf } from '../../../platform/access/client-key.ts';
import { toError } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { Tracer } from '../../../platform/tracing/tracer.ts';
import type { CallerFinder } from '../../authentication/caller.ts';
import type { CredentialGuard } from '../../authentication/credential-guard.ts';
import type { RateLimiter } from '../../limits/rate-limit.ts';
import type { Slot, Slots } from '../../limits/slots.ts';
import type { Cors } from '../../request/cors.ts';
import type { TransportOptions } from '../admission/transport.ts';
import { type SlowSockets, watchSlowSockets } from './slow-sockets.ts';
import { createSession, createSocketHooks, endLeftOperations, type Session } from './websocket-operations.ts';

/**
 * graphql-transport-ws on /graphql: queries, mutations and subscriptions with the same admission. The protocol is
 * graphql-ws; the sockets are wired here because its adapter prints clients' mistakes to the console.
 */
export interface WebSocketTransport {
  /** Handles an upgrade request, which counts as a status read; one to a path that is not served is 404. Never rejects. */
  upgrade(request: IncomingMessage, upgrade: Upgrade): Promise<void>;
  /** Open sockets. */
  readonly size: number;
  /**
   * Closes the sockets with 1001, a few at a time, each with a hint when to reconnect, and terminates those that do not
   * answer within `graceMs`.
   */
  close(graceMs: number): Promise<void>;
}

/** The socket of an upgrade request, which has an error listener. */
interface Upgrade {
  readonly socket: Duplex;
  readonly head: Buffer;
  /** Whether the path is ours. */
  readonly isServed: boolean;
}

/** Options of the WebSocket transport. */
export interface WebSocketOptions extends TransportOptions {
  readonly callers: CallerFinder;
  readonly guard: CredentialGuard;
  readonly cors: Cors;
  /** Bounds the open sockets of a client. */
  readonly slots: Slots;
  /** Closes sockets that come without a credential. */
  readonly requiresCredential: boolean;
  /** Counts upgrades and refused credentials; absent without rate limits. */
  readonly rateLimiter?: RateLimiter | undefined;
  readonly tracer: Tracer;
  /** Largest message of a client in bytes (default 1,000,000). */
  readonly maxMessageBytes?: number;
  /** Milliseconds after which a client that does not read is disconnected (default 30,000). */
  readonly stallMs?: number;
}

/** Most open sockets of this process. */
const MAX_SOCKETS = 10_000;
/** Between pings; a client that misses one is disconnected. */
const KEEP_ALIVE_MS = 12_000;

/** Makes the transport; the HTTP server passes upgrades to it. */
export function createWebSocketTransport(options: WebSocketOptions): WebSocketTransport {
  const { cors, logger, slots, maxMessageBytes = 1_000_000 } = options;
  const wss = new WebSocketServer({ noServer: true, maxPayload: maxMessageBytes, handleProtocols });
  const protocol = makeServer(createSocketHooks(options));
  const slow = watchSlowSockets({ sockets: wss.clients, stallMs: options.stallMs ?? 30_000, logger });
  const alive = keepAlive(wss.clients);

  function open(client: WebSocket, request: IncomingMessage, slot: Slot): void {
    // Oversized and malformed messages close the socket (1009, 1002).
    client.on('error', (error) => logger.debug({ error }, 'a WebSocket client failed'));
    alive.watch(client);
    const session = createSession({ request, slot, close: (code, reason) => client.close(code, reason) });
    const closed = protocol.opened(wire(client, { logger, slow, session }), session);
    client.once('close', (code, reason) => {
      closed(code, String(reason)).catch((error: unknown) =>
        logger.error({ error: toError(error) }, 'a WebSocket did not end cleanly'),
      );
    });
  }

  /** The status of an upgrade that is refused. */
  async function refusalOf(
    request: IncomingMessage,
    nobody: Caller,
    isServed: boolean,
  ): Promise<string | null> {
    const rate = await options.rateLimiter?.take(nobody, 'status');
    if (rate?.allowed === false) return '429 Too Many Requests';
    if (!isServed) return '404 Not Found';
    if (!cors.allows(request)) return '403 Forbidden';
    return wss.clients.size >= MAX_SOCKETS ? '503 Service Unavailable' : null;
  }

  return {
    get size() {
      return wss.clients.size;
    },
    async upgrade(request, { socket, head, isServed }) {
      try {
        const nobody = await options.callers.find(request, { authorization: '' });
        const status = await refusalOf(request, nobody, isServed);
        if (status !== null) return refuseUpgrade(socket, status);
        if (socket.destroyed) return;
        const slot = slots.take(clientKeyOf(nobody));
        if (slot === null) return refuseUpgrade(socket, '429 Too Many Requests');
        socket.once('close', () => slot.release());
        wss.handleUpgrade(request, socket, head, (client) => {
          slow.watch(client, socket);
          open(client, request, slot);
        });
      } catch (thrown) {
        logger.error({ error: toError(thrown) }, 'a WebSocket could not be opened');
        refuseUpgrade(socket, '500 Internal Server Error');
      }
    },
    async close(graceMs) {
      await closeClients(wss, graceMs);
      alive.close();
      slow.close();
    },
  };
}

async function closeClients(wss: WebSocketServer, graceMs: number): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    wss.close(() => resolve());
  });
  const open = [...wss.clients];
  // Longer for many: whoever takes them up must not get them all at once.
  const hintSeconds = Math.min(MAX_HINT_SECONDS, 1 + open.length / RECONNECTS_PER_SECOND);
  for (let begin = 0; begin < open.length; begin += WAVE) {
    if (begin > 0) await pause(WAVE_MS);
    for (const client of open.slice(begin, begin + WAVE)) client.close(1001, hintOf(hintSeconds));
  }
  const cut = setTimeout(() => {
    for (const client of wss.clients) client.terminate();
  }, graceMs);
  await ended;
  clearTimeout(cut);
}

/** Sockets that are closed at once, and the pause until the next ones: 5,000 a second. */
const WAVE = 500;
const WAVE_MS = 100;
const RECONNECTS_PER_SECOND = 1_000;
const MAX_HINT_SECONDS = 30;

function hintOf(seconds: number): string {
  return `the server is stopping: reconnect in ${(Math.random() * seconds).toFixed(1)} s`;
}

/** Refuses an upgrade and closes the socket. */
function refuseUpgrade(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

/** Adapts a socket to the protocol. Sending waits until the message was written. */
function wire(
  client: WebSocket,
  { logger, slow, session }: { logger: Logger; slow: SlowSockets; session: Session },
): ProtocolSocket {
  return {
    protocol: client.protocol,
    close: (code, reason) => client.close(code, reason),
    send: (data) =>
      new Promise((resolve) => {
        // A send that fails means that the socket is gone; its `close` event reports it.
        if (client.readyState === WebSocket.OPEN && slow.admits(client)) client.send(data, () => resolve());
        else resolve();
      }),
    onMessage: (handle) =>
      client.on('message', (data: Buffer) => {
        // Text and binary messages come as buffers (the default binaryType).
        handle(data.toString())
          .then(() => endLeftOperations(session))
          .catch((error: unknown) => {
            logger.error({ error: toError(error) }, 'a WebSocket message could not be handled');
            client.close(CloseCode.InternalServerError, 'internal error');
          });
      }),
  };
}

interface KeepAlive {
  watch(client: WebSocket): void;
  close(): void;
}

/** Pings every client, and disconnects one that did not answer the last ping. */
function keepAlive(clients: ReadonlySet<WebSocket>): KeepAlive {
  const unanswered = new WeakSet<WebSocket>();
  const timer = setInterval(() => {
    for (const client of clients) {
      if (unanswered.has(client)) client.terminate();
      else if (client.readyState === WebSocket.OPEN) {
        unanswered.add(client);
        client.ping();
      }
    }
  }, KEEP_ALIVE_MS);
  timer.unref();
  return {
    watch: (client) => void client.on('pong', () => unanswered.delete(client)),
    close: () => clearInterval(timer),
  };
}
