import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';

import { CloseCode, handleProtocols, makeServer, type WebSocket as ProtocolSocket } from 'graphql-ws';
import { WebSocket, WebSocketServer } from 'ws';

import { type Caller, createClientKey } from '../../../platform/access/caller.ts';
import { toError } from '../../../platform/errors.ts';
import type { Tracer } from '../../../platform/tracing/span.ts';
import type { CallerFinder } from '../../authentication/caller.ts';
import type { CredentialGuard } from '../../authentication/credential-guard.ts';
import type { RateLimiter } from '../../limits/rate-limit.ts';
import type { Slot, Slots } from '../../limits/slots.ts';
import type { Cors } from '../../request/cors.ts';
import type { TransportOptions } from '../admission/transport.ts';
import type { FindElsewhere } from './elsewhere.ts';
import {
  createHandshakeQueue,
  type HandshakeQueue,
  type HandshakeQueueOptions,
  type Turn,
} from './handshake-queue.ts';
import { keepAlive } from './keep-alive.ts';
import { createOperationIds } from './operation-ids.ts';
import { type SlowSockets, watchSlowSockets } from './slow-sockets.ts';
import { createSession, createSocketHooks, endLeftOperations, type Session } from './websocket-operations.ts';

/**
 * graphql-transport-ws on /graphql: queries, mutations and subscriptions with the same admission. The protocol is
 * graphql-ws; the sockets are wired here because its adapter prints clients' mistakes to the console.
 */
export type WebSocketTransport = ReturnType<typeof createWebSocketTransport>;

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
  /** Finds who runs an operation in place of this process (default: nobody). */
  readonly elsewhere?: FindElsewhere | undefined;
  /** Largest message of a client in bytes (default 1,000,000). */
  readonly maxMessageBytes?: number;
  /** The same for clients without a credential (default: no other bound). */
  readonly anonymousMessageBytes?: number | undefined;
  /** Milliseconds after which a client that does not read is disconnected (default 30,000). */
  readonly stallMs?: number;
  /** Most open sockets of this process (default 10,000). */
  readonly maxSockets?: number | undefined;
  /** Most bytes that wait for all clients together (default 48,000,000). */
  readonly unreadBytes?: number | undefined;
  /** How sockets are opened, a few at a time. */
  readonly opening?: HandshakeQueueOptions | undefined;
}

/** Makes the transport; the HTTP server passes upgrades to it. */
export function createWebSocketTransport(options: WebSocketOptions) {
  const { cors, logger, slots, maxMessageBytes = 1_000_000, maxSockets = 10_000 } = options;
  const wss = new WebSocketServer({ noServer: true, maxPayload: maxMessageBytes, handleProtocols });
  const protocol = makeServer(createSocketHooks(options));
  const slow = watchSlowSockets({ ...options, sockets: wss.clients });
  const alive = keepAlive(wss.clients);
  const line = createHandshakeQueue(options.opening);

  function open(client: WebSocket, request: IncomingMessage, { slot, turn }: Admittance): void {
    // Oversized and malformed messages close the socket (1009, 1002).
    client.on('error', (error) => logger.debug({ error }, 'a WebSocket client failed'));
    alive.watch(client);
    const session = createSession({ request, slot, close: (code, reason) => client.close(code, reason) });
    const closed = protocol.opened(wire(client, { ...options, slow, session, turn }), session);
    client.once('close', (code, reason) => {
      turn.end();
      closed(code, String(reason)).catch((error: unknown) =>
        logger.error({ error: toError(error) }, 'a WebSocket did not end cleanly'),
      );
    });
  }

  /** The status of an upgrade that is refused. */
  async function findUpgradeRefusal(
    request: IncomingMessage,
    nobody: Caller,
    isServed: boolean,
  ): Promise<string | null> {
    const rate = await options.rateLimiter?.take(nobody, 'status');
    if (rate?.allowed === false) return '429 Too Many Requests';
    if (!isServed) return '404 Not Found';
    if (!cors.allows(request)) return '403 Forbidden';
    return wss.clients.size + line.waiting >= maxSockets ? BUSY : null;
  }

  return {
    /** Open sockets. */
    get size() {
      return wss.clients.size;
    },
    /** Handles an upgrade request, which counts as a status read; one to a path that is not served is 404. Never rejects. */
    async upgrade(request: IncomingMessage, { socket, head, isServed }: Upgrade): Promise<void> {
      try {
        const nobody = await options.callers.find(request, { authorization: '' });
        const status = await findUpgradeRefusal(request, nobody, isServed);
        if (status !== null) return refuseUpgrade(socket, status);
        if (socket.destroyed) return;
        const admitted = await admit(socket, createClientKey(nobody), { slots, line });
        if (typeof admitted === 'string') return refuseUpgrade(socket, admitted);
        wss.handleUpgrade(request, socket, head, (client) => {
          slow.watch(client, socket);
          open(client, request, admitted);
        });
      } catch (thrown) {
        logger.error({ error: toError(thrown) }, 'a WebSocket could not be opened');
        refuseUpgrade(socket, '500 Internal Server Error');
      }
    },
    /**
     * Closes the sockets with 1001, a few at a time, each with a hint when to reconnect, and terminates those that do not
     * answer within `graceMs`.
     */
    async close(graceMs: number): Promise<void> {
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
    for (const client of open.slice(begin, begin + WAVE)) client.close(1001, formatHint(hintSeconds));
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

function formatHint(seconds: number): string {
  return `the server is stopping: reconnect in ${(Math.random() * seconds).toFixed(1)} s`;
}

const BUSY = '503 Service Unavailable';
/** Most seconds until a refused client shall come again. */
const MAX_RETRY_SECONDS = 10;

/** Refuses an upgrade and closes the socket. Those who are refused together are told different times to come again. */
function refuseUpgrade(socket: Duplex, status: string): void {
  const retryAfter = Math.ceil(Math.random() * MAX_RETRY_SECONDS);
  const again = /^(?:429|503)/.test(status) ? `Retry-After: ${retryAfter}\r\n` : '';
  const head = `HTTP/1.1 ${status}\r\n${again}Connection: close\r\nContent-Length: 0\r\n\r\n`;
  // An end alone leaves it half open until the client closes it, which holds up a stop.
  socket.end(head, () => socket.destroy());
}

/** What a socket holds when it may be opened; else why it may not. */
async function admit(
  socket: Duplex,
  clientKey: string,
  { slots, line }: { readonly slots: Slots; readonly line: HandshakeQueue },
): Promise<Admittance | string> {
  const slot = slots.take(clientKey);
  if (slot === null) return '429 Too Many Requests';
  const gone = new AbortController();
  socket.once('close', () => {
    slot.release();
    gone.abort();
  });
  const turn = await line.enter(gone.signal);
  return turn === null ? BUSY : { slot, turn };
}

/** What a socket that is opened holds. */
interface Admittance {
  /** Among the sockets of its client. */
  readonly slot: Slot;
  /** Among those that are being opened. */
  readonly turn: Turn;
}

interface WiredSocket extends Pick<WebSocketOptions, 'logger' | 'anonymousMessageBytes'> {
  readonly slow: SlowSockets;
  readonly session: Session;
  readonly turn: Turn;
}

/** Adapts a socket to the protocol. Sending waits until the message was written. */
function wire(
  client: WebSocket,
  { logger, anonymousMessageBytes = Infinity, slow, session, turn }: WiredSocket,
): ProtocolSocket {
  let isAcknowledged = false;
  const ids = createOperationIds(() => session.subscriptions ?? {});
  return {
    protocol: client.protocol,
    close: (code, reason) => client.close(code, reason),
    send: (message) =>
      new Promise((resolve) => {
        const data = ids.toClient(message);
        // The first message acknowledges the connection; with the next one it is in use.
        if (isAcknowledged) turn.end();
        isAcknowledged = true;
        // A send that fails means that the socket is gone; its `close` event reports it.
        const isOpen = data !== null && client.readyState === WebSocket.OPEN;
        if (isOpen && slow.admits(client)) client.send(data, () => resolve());
        else resolve();
      }),
    onMessage: (handle) =>
      client.on('message', (data: Buffer) => {
        const { kind = 'anonymous' } = session.caller ?? {};
        if (kind === 'anonymous' && data.length > anonymousMessageBytes)
          return client.close(TOO_BIG, TOO_BIG_REASON);
        // Text and binary messages come as buffers (the default binaryType).
        const handled = handle(ids.toServer(data.toString()))
          .then(() => endLeftOperations(session))
          .catch((error: unknown) => {
            logger.error({ error: toError(error) }, 'a WebSocket message could not be handled');
            client.close(CloseCode.InternalServerError, 'internal error');
          });
        ids.taken(handled);
      }),
  };
}

const TOO_BIG = 1009;
const TOO_BIG_REASON = 'a message without a credential is too large';
