import { request as requestOverHttp, type IncomingMessage } from 'node:http';
import { request as requestOverHttps } from 'node:https';
import type { Socket } from 'node:net';

import { internalCaller } from '../../access/caller.ts';
import type { Endpoint } from '../../http/endpoints/endpoint.ts';
import { newTraceId } from '../../ids.ts';
import { CALLER_HEADER, createCallerSigner } from '../assertions/caller-assertion.ts';
import type { ConnectionOptions } from './connection.ts';
import {
  CHANNEL_METHOD,
  CHANNEL_PATH,
  CHANNEL_PROTOCOL,
  connectionKey,
  newNonce,
  NONCE_HEADER,
} from './handshake.ts';

/** What a new connection is made of. */
export type OpenedSocket = Pick<ConnectionOptions, 'socket' | 'head' | 'key'>;

export interface OpenOptions {
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
