import { request as requestOverHttp, type IncomingMessage } from 'node:http';
import { request as requestOverHttps } from 'node:https';
import type { Socket } from 'node:net';

import { internalCaller } from '../../access/caller.ts';
import type { Endpoint } from '../../http/endpoints/endpoint-health.ts';
import type { Endpoints } from '../../http/endpoints/endpoints.ts';
import type { Abandonable, TextAnswer } from '../../http/endpoints/post-text.ts';
import { newTraceId } from '../../ids.ts';
import { withJitter } from '../../process/jitter.ts';
import { CALLER_HEADER, createCallerSigner } from '../assertions/caller-assertion.ts';
import {
  type ChannelConnection,
  createConnection,
  type Question,
  type ConnectionOptions,
} from './connection.ts';
import {
  CHANNEL_METHOD,
  CHANNEL_PATH,
  CHANNEL_PROTOCOL,
  connectionKey,
  newNonce,
  NONCE_HEADER,
} from './protocol.ts';

export interface ChannelsOptions {
  /** INTERNAL_KEY, of which the key of each connection is made. */
  readonly internalKey: string;
  /** The name of the subgraph. */
  readonly audience: string;
  readonly endpoints: Endpoints;
  readonly maxAnswerBytes: number;
}

/** Milliseconds for a channel to open, where there are other processes to turn to and where not. */
const OPEN_MS = { several: 2_000, one: 10_000 };
/** Milliseconds in which a process that knows no channels is not asked for one again: it may be replaced by a newer one. */
const HTTP_MS = 30_000;
/** Most connections to one address, behind which there may be several processes; each gets company when it has so many requests. */
const MAX_CONNECTIONS = 4;
const FEW_WAITING = 64;
/** Further requests go over HTTP, where they wait. */
const MAX_WAITING = 1_000;
/** Milliseconds that a connection is used, on average: later ones find processes that were started meanwhile behind one address. */
const AGE_MS = 120_000;

/** The connections to one process. */
interface Line {
  readonly connections: Map<ChannelConnection, { readonly until: number }>;
  opening: Promise<ChannelConnection | null> | null;
  httpUntil: number;
}

/** Makes the channels to the processes of one subgraph: opened when needed, replaced when they end. */
export function createChannels({ internalKey, audience, endpoints, maxAnswerBytes }: ChannelsOptions) {
  const lines = new Map<Endpoint, Line>();
  const timeoutMs = () => (endpoints.count() > 1 ? OPEN_MS.several : OPEN_MS.one);
  const open = createOpener({ internalKey, audience, timeoutMs });
  let isClosed = false;
  endpoints.onGone((endpoint) => {
    for (const connection of lines.get(endpoint)?.connections.keys() ?? []) connection.leave();
    lines.delete(endpoint);
  });

  const connect = async (endpoint: Endpoint, line: Line): Promise<ChannelConnection | null> => {
    const opened = await open(endpoint);
    if (opened === null) {
      line.httpUntil = performance.now() + HTTP_MS;
      return null;
    }
    const onClosed = () => void line.connections.delete(connection);
    const connection = createConnection({ ...opened, maxAnswerBytes, onClosed });
    line.connections.set(connection, { until: performance.now() + withJitter(AGE_MS) });
    if (isClosed) connection.destroy();
    return connection;
  };
  const opening = (endpoint: Endpoint, line: Line): Promise<ChannelConnection | null> => {
    line.opening ??= connect(endpoint, line).finally(() => (line.opening = null));
    return line.opening;
  };
  const lineTo = (endpoint: Endpoint): Line => {
    const line = lines.get(endpoint) ?? { connections: new Map(), opening: null, httpUntil: 0 };
    lines.set(endpoint, line);
    return line;
  };

  return {
    /** Asks over a channel to this process; null where it is to be asked over HTTP. */
    async ask(endpoint: Endpoint, question: Question, call: Abandonable): Promise<TextAnswer | null> {
      const line = lineTo(endpoint);
      if (line.httpUntil > performance.now()) return null;
      const free = leastBusy(line);
      const isBusy = free !== undefined && free.waiting >= FEW_WAITING;
      if (isBusy && line.connections.size < MAX_CONNECTIONS) opening(endpoint, line).catch(() => undefined);
      const connection = free ?? (await whileWanted(opening(endpoint, line), call));
      if (connection === null || connection.waiting >= MAX_WAITING) return null;
      return connection.ask(question, call);
    },
    close(): void {
      isClosed = true;
      for (const { connections } of lines.values())
        for (const connection of connections.keys()) connection.destroy();
    },
  };
}

/** The open connection with the fewest requests; one that is old is left. */
function leastBusy({ connections }: Line): ChannelConnection | undefined {
  let least: ChannelConnection | undefined;
  const now = performance.now();
  for (const [connection, { until }] of connections) {
    if (until < now) connection.leave();
    if (connection.isOpen && (least === undefined || connection.waiting < least.waiting)) least = connection;
  }
  return least;
}

/** What is being opened, for as long as the call is not abandoned. */
function whileWanted<Value>(opened: Promise<Value>, call: Abandonable): Promise<Value> {
  return new Promise((resolve, reject) => {
    call.abandon = (reason) => {
      call.abandon = null;
      reject(reason);
    };
    opened.then(resolve, reject);
  });
}

/** What a new connection is made of. */
type OpenedSocket = Pick<ConnectionOptions, 'socket' | 'head' | 'key'>;

interface OpenOptions {
  readonly internalKey: string;
  /** The subgraph. */
  readonly audience: string;
  /** Milliseconds until it is open. */
  readonly timeoutMs: () => number;
}

/** Milliseconds between two probes of an idle connection by the system. */
const KEEP_ALIVE_MS = 30_000;

/**
 * Makes what opens a channel to a process: null where that knows none and is asked over HTTP. Rejects when there is no connection, so
 * that nothing was asked.
 */
export function createOpener({ internalKey, audience, timeoutMs }: OpenOptions) {
  const sign = createCallerSigner({ key: internalKey, audience });
  return async ({ origin, lookup }: Endpoint): Promise<OpenedSocket | null> => {
    const asking = newNonce();
    const target = { method: CHANNEL_METHOD, path: CHANNEL_PATH, body: asking };
    const url = new URL(CHANNEL_PATH, origin);
    const request = (url.protocol === 'https:' ? requestOverHttps : requestOverHttp)(url, {
      agent: false,
      ...(lookup && { lookup }),
      headers: {
        connection: 'Upgrade',
        upgrade: CHANNEL_PROTOCOL,
        [CALLER_HEADER]: await sign(internalCaller(newTraceId()), target),
        [NONCE_HEADER]: asking,
      },
    });
    const { promise, resolve, reject } = Promise.withResolvers<OpenedSocket | null>();
    const late = setTimeout(() => request.destroy(noChannel('no channel in time')), timeoutMs());
    request.on('upgrade', ({ headers }: IncomingMessage, socket: Socket, head: Buffer) => {
      const answering = headers[NONCE_HEADER];
      if (headers.upgrade !== CHANNEL_PROTOCOL || typeof answering !== 'string') {
        socket.destroy();
        return resolve(null);
      }
      socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS);
      resolve({ socket, head, key: connectionKey(internalKey, { audience, asking, answering }) });
    });
    request.on('response', (response) => {
      response.destroy();
      resolve(null);
    });
    request.on('error', reject);
    request.end();
    return promise.finally(() => clearTimeout(late));
  };
}

function noChannel(message: string): Error {
  return Object.assign(new Error(message), { code: 'NO_CHANNEL' });
}
