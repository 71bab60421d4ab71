import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

import { GraphQLError } from 'graphql';
import type { ExecutionResult } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import type { Extra } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';

import type { Caller } from '../../platform/caller.ts';
import { AppError } from '../../platform/errors.ts';
import type { GraphqlRequest, RequestContext } from '../../platform/graphql/executor.ts';
import type { CallerFinder } from '../caller.ts';
import type { Cors } from '../cors.ts';
import { refusal } from '../limits/refusal.ts';
import { readOperation } from './read-operation.ts';
import type { OperationRequest } from './read-operation.ts';
import { watchSlowSockets } from './slow-sockets.ts';
import type { TransportOptions } from './transport.ts';

/**
 * graphql-transport-ws on /graphql: queries, mutations and subscriptions, admitted like everywhere else. The caller
 * comes with connection_init (`{ "authorization": "Bearer ..." }`), else with the upgrade's Authorization header.
 */
export interface WebSocketTransport {
  /** Takes over an upgrade request whose path is ours. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Open sockets. */
  readonly size: number;
  /** Closes every socket with 1001; those that do not answer within `graceMs` are cut. */
  close(graceMs: number): Promise<void>;
}

export interface WebSocketOptions extends TransportOptions {
  readonly callers: CallerFinder;
  readonly cors: Cors;
  /** Largest message of a client in bytes (default 1,000,000). */
  readonly maxMessageBytes?: number;
  /** Running operations of one socket (default 100). */
  readonly maxOperations?: number;
  /** Most open sockets of this process (default 10,000). */
  readonly maxSockets?: number;
  /** A client that does not read for so many milliseconds is cut off (default 30,000). */
  readonly stallMs?: number;
  /** Milliseconds between pings; who misses one is gone (default 12,000). */
  readonly keepAliveMs?: number;
}

/** What belongs to one socket. */
interface Session {
  caller?: Caller;
  /** Running operations by their id; aborted when they end or the socket closes. */
  readonly running: Map<string, AbortController>;
}

export function createWebSocketTransport(options: WebSocketOptions): WebSocketTransport {
  const { cors, logger, maxMessageBytes = 1_000_000, maxSockets = 10_000, keepAliveMs = 12_000 } = options;
  const wss = new WebSocketServer({ noServer: true, maxPayload: maxMessageBytes });
  const graphql = useServer<ConnectionParams>(createHooks(options), wss, keepAliveMs);
  const slow = watchSlowSockets({ sockets: wss.clients, stallMs: options.stallMs ?? 30_000, logger });

  return {
    get size() {
      return wss.clients.size;
    },
    upgrade(request, socket, head) {
      // Before the handshake is done nobody else listens; a reset then must not end the process.
      const onError = (): void => void socket.destroy();
      socket.on('error', onError);
      if (!cors.allows(request)) return refuseUpgrade(socket, '403 Forbidden');
      if (wss.clients.size >= maxSockets) return refuseUpgrade(socket, '503 Service Unavailable');
      wss.handleUpgrade(request, socket, head, (client) => {
        socket.off('error', onError);
        // Oversized and malformed messages close the socket by themselves (1009, 1002).
        client.on('error', (error) => logger.debug({ error }, 'a WebSocket client failed'));
        slow.watch(client, socket);
        wss.emit('connection', client, request);
      });
    },
    async close(graceMs) {
      const cut = setTimeout(() => terminateAll(wss.clients), graceMs);
      await graphql.dispose();
      clearTimeout(cut);
      slow.close();
    },
  };
}

/** Answers an upgrade that is not wanted, and closes the socket. */
export function refuseUpgrade(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

function terminateAll(sockets: ReadonlySet<WebSocket>): void {
  for (const socket of sockets) socket.terminate();
}

type ConnectionParams = Record<string, unknown>;
type Hooks = Parameters<typeof useServer<ConnectionParams>>[0];

function createHooks(options: WebSocketOptions): Hooks {
  const { federation, admission, errors, callers, maxOperations = 100 } = options;
  const sessions = new WeakMap<WebSocket, Session>();
  const sessionOf = ({ socket }: Extra): Session => {
    let session = sessions.get(socket);
    if (session === undefined) sessions.set(socket, (session = { running: new Map() }));
    return session;
  };
  const traceIdOf = (session: Session): string => session.caller?.traceId ?? '';

  return {
    // Close reasons never carry the text of an unexpected error.
    isProd: true,
    async onConnect({ connectionParams, extra }) {
      try {
        const authorization = authorizationOf(connectionParams);
        sessionOf(extra).caller = await callers.find(extra.request, { authorization, strict: true });
        return true;
      } catch (error) {
        // 4403 Forbidden; anything but a bad credential closes the socket as our failure.
        if (error instanceof AppError && error.code === 'UNAUTHENTICATED') return false;
        throw error;
      }
    },
    async onSubscribe({ extra, subscriptions }, id, payload) {
      const session = sessionOf(extra);
      if (session.caller === undefined) return [new GraphQLError('the socket has no caller')];
      const running = Object.keys(subscriptions).length;
      if (running > maxOperations) return [refusal('concurrent-operations', maxOperations, running)];
      const request = readOperation(payload);
      if (request instanceof GraphQLError) return [request];
      const verdict = await admission.admit(request, session.caller);
      if ('errors' in verdict) return verdict.errors;
      const abort = new AbortController();
      session.running.set(id, abort);
      return {
        schema: federation.apiSchema(),
        document: verdict.operation.document,
        operationName: request.operationName ?? null,
        variableValues: request.variables,
        contextValue: {
          request,
          context: { caller: session.caller, signal: abort.signal },
        } satisfies Running,
      };
    },
    execute: ({ contextValue }) => federation.execute(requestOf(contextValue)),
    subscribe: ({ contextValue }) => federation.subscribe(requestOf(contextValue)),
    onNext: ({ extra }, _id, _payload, _args, result) =>
      errors.formatResult(result as ExecutionResult, traceIdOf(sessionOf(extra))),
    onError: ({ extra }, _id, _payload, found) =>
      found.map((error) => errors.formatError(error, traceIdOf(sessionOf(extra)))),
    onComplete: ({ extra }, id) => endOperation(sessionOf(extra), id),
    onClose: ({ extra }) => {
      const session = sessionOf(extra);
      for (const id of session.running.keys()) endOperation(session, id);
    },
  };
}

interface Running {
  readonly request: OperationRequest;
  readonly context: RequestContext;
}

/** The context value that `onSubscribe` made. */
function requestOf(contextValue: unknown): GraphqlRequest {
  const { request, context } = contextValue as Running;
  return { ...request, context };
}

function endOperation(session: Session, id: string): void {
  session.running.get(id)?.abort();
  session.running.delete(id);
}

/** `authorization` in any case, at the top or below `headers`, as different clients send it. */
function authorizationOf(params: unknown): string | undefined {
  if (typeof params !== 'object' || params === null) return undefined;
  for (const [key, value] of Object.entries(params)) {
    if (key.toLowerCase() === 'authorization' && typeof value === 'string') return value;
    if (key.toLowerCase() === 'headers') {
      const inner = authorizationOf(value);
      if (inner !== undefined) return inner;
    }
  }
  return undefined;
}
