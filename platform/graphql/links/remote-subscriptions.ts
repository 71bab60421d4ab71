import { type ExecutionResult, GraphQLError, type GraphQLFormattedError } from 'graphql';
import { createClient, type FormattedExecutionResult } from 'graphql-ws';
import { WebSocket } from 'ws';

import { internalCaller } from '../../access/caller.ts';
import { toError } from '../../errors.ts';
import { newTraceId } from '../../ids.ts';
import type { Logger } from '../../process/logger.ts';
import { codedError } from '../operations/errors.ts';
import type { ResultStream } from '../operations/executor.ts';
import { createPushStream } from '../operations/streams.ts';
import type { SubgraphRequest } from '../operations/subgraph.ts';
import { CALLER_EXTENSION, type CallerSigner, operationHash } from './caller-assertion.ts';

/** The WebSocket side of a remote link: one connection for all subscriptions, open while there are any. */
export interface RemoteSubscriptions {
  subscribe(request: SubgraphRequest): Promise<ResultStream>;
  close(): Promise<void>;
}

export interface RemoteSubscriptionsOptions {
  readonly name: string;
  /** The http(s) URL of the subgraph, which serves graphql-ws at the same path. */
  readonly url: string;
  /** Makes a caller assertion for each subscription; absent for a foreign subgraph. */
  readonly sign: CallerSigner | undefined;
  /** Sends the caller's own bearer token when connecting, over a connection of its own. */
  readonly passesBearer: boolean;
  readonly timeoutMs: number;
  readonly maxMessageBytes: number;
  readonly logger: Logger;
}

/** Interval of pings; a subgraph that does not answer one within the timeout counts as lost. */
const KEEP_ALIVE_MS = 10_000;
/** Most buffered events of one subscription; one more ends it. */
const MAX_PENDING_EVENTS = 1_000;
/** Time that the connection stays open after the last subscription. */
const LINGER_MS = 5_000;

/**
 * Makes the subscriptions of a remote link. A lost connection is one last result with code UNAVAILABLE, then the end:
 * subscribers resume from the last event they saw, so nothing is retried here.
 */
export function createRemoteSubscriptions(options: RemoteSubscriptionsOptions): RemoteSubscriptions {
  const { name, sign, passesBearer, logger } = options;
  const path = pathOf(options.url);
  const client = createSocketClient(options);
  const lost = (): ExecutionResult => ({
    errors: [codedError('UNAVAILABLE', `subgraph ${JSON.stringify(name)} is gone`)],
  });
  const failed = (thrown: unknown): ExecutionResult => {
    if (isErrorList(thrown)) return { errors: thrown.map(revivedError) };
    logger.warn(
      { subgraph: name, error: connectionError(thrown) },
      'a subscription lost the connection to its subgraph',
    );
    return lost();
  };

  return {
    async subscribe({ query, operationName, variables, context }) {
      const body = operationHash({ query, operationName, variables });
      const asserted = await sign?.(context.caller, { method: 'SUBSCRIBE', path, body });
      const extensions = asserted === undefined ? {} : { [CALLER_EXTENSION]: asserted };
      const { bearer } = context.caller;
      const own = passesBearer && bearer !== undefined ? createSocketClient(options, bearer) : undefined;
      let leave = () => {};
      const leaveEarly = () => void events.stream.return();
      const events = createPushStream<ExecutionResult>({
        maxPending: MAX_PENDING_EVENTS,
        overflow: () => ({ errors: [codedError('UNAVAILABLE', 'this reader is too slow')] }),
        onEnd() {
          context.signal.removeEventListener('abort', leaveEarly);
          leave();
          void own?.dispose();
        },
      });
      leave = (own ?? client).subscribe(
        { query, variables: { ...variables }, operationName: operationName ?? null, extensions },
        {
          next: (result) => events.push(parsedResult(result as FormattedExecutionResult)),
          error: (thrown) => events.end(failed(thrown)),
          complete: () => events.end(),
        },
      );
      if (context.signal.aborted) leaveEarly();
      else context.signal.addEventListener('abort', leaveEarly, { once: true });
      return events.stream;
    },
    close: async () => await client.dispose(),
  };
}

function createSocketClient(
  { url, sign, timeoutMs, maxMessageBytes }: RemoteSubscriptionsOptions,
  bearer?: string,
) {
  const credentials = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
  let socket: WebSocket | undefined;
  let pongTimer: NodeJS.Timeout | undefined;
  // graphql-ws calls it with `new`; this way our limits reach its WebSocket.
  const webSocketImpl = Object.assign(
    function BoundedWebSocket(address: string, protocol: string) {
      return new WebSocket(address, protocol, {
        maxPayload: maxMessageBytes,
        handshakeTimeout: timeoutMs,
        headers: credentials,
      });
    },
    { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 },
  );
  return createClient({
    url: url.replace(/^http/, 'ws'),
    webSocketImpl,
    connectionParams: async () => {
      const target = { method: 'CONNECT', path: pathOf(url), body: null };
      const asserted = await sign?.(internalCaller(newTraceId()), target);
      return asserted === undefined ? credentials : { [CALLER_EXTENSION]: asserted };
    },
    lazy: true,
    lazyCloseTimeout: LINGER_MS,
    connectionAckWaitTimeout: timeoutMs,
    retryAttempts: 0,
    keepAlive: KEEP_ALIVE_MS,
    on: {
      opened: (opened) => (socket = opened as WebSocket),
      ping: (received) => {
        if (!received) pongTimer = setTimeout(() => socket?.terminate(), timeoutMs);
      },
      pong: (received) => {
        if (received) clearTimeout(pongTimer);
      },
      closed: () => clearTimeout(pongTimer),
    },
  });
}

/** The path that assertions for requests to a URL name. */
export function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

/** A result from the wire, its errors as GraphQLErrors. */
export function parsedResult(result: FormattedExecutionResult): ExecutionResult {
  const { errors, ...rest } = result;
  return (errors === undefined ? rest : { ...rest, errors: errors.map(revivedError) }) as ExecutionResult;
}

function revivedError({ message, path, extensions }: GraphQLFormattedError): GraphQLError {
  return new GraphQLError(message, { path: path ?? null, extensions: extensions ?? {} });
}

function isErrorList(thrown: unknown): thrown is readonly GraphQLFormattedError[] {
  return Array.isArray(thrown);
}

// graphql-ws passes the browser's event objects, which print nothing useful.
function connectionError(thrown: unknown): Error {
  if (typeof thrown !== 'object' || thrown === null) return toError(thrown);
  if ('error' in thrown) return toError(thrown.error);
  if ('code' in thrown) return new Error(`the connection was closed with code ${String(thrown.code)}`);
  return toError(thrown);
}
