import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

import { FAULTS, type Fault, type Faults } from '../faults/faults.ts';
import { type Answer, sendAnswer, sendWithFault } from './answer.ts';
import { readBody } from './listener.ts';
import type { Received } from './received.ts';
import { matchRoute, type Wire, type WireRequest } from './wire.ts';

export interface ServeOptions {
  readonly wire: Wire;
  readonly faults: Faults;
  readonly received: Received;
  /** Origin of the listener, for the URLs that wires answer. */
  readonly origin: string;
  /** The path below the mount, and the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Largest request body in bytes. */
  readonly maxBodyBytes: number;
}

/** Answers one request of a wire, and injects the faults planned for it. */
export async function serveWire(
  options: ServeOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { wire, faults } = options;
  for (const [name, value] of Object.entries(wire.headers?.() ?? {})) response.setHeader(name, value);
  const body = await readBody(request, options.maxBodyBytes);
  const hangUp = new AbortController();
  response.once('close', () => hangUp.abort(new Error('the caller hung up')));
  const requested: WireRequest = {
    method: request.method ?? 'GET',
    path: options.path,
    params: {},
    query: options.query,
    headers: request.headers as Record<string, string | undefined>,
    body,
    baseUrl: `${options.origin}/${wire.mount}`,
    signal: hangUp.signal,
  };
  const authorized = wire.authorize?.(requested) ?? { path: requested.path, params: {} };
  if ('answer' in authorized) return sendAnswer(response, authorized.answer);
  const match = matchRoute(wire.routes, requested.method, authorized.path);
  if (match === null)
    return sendAnswer(
      response,
      wire.refuse(404, `no route ${requested.method} ${requested.path}`, undefined, requested.path),
    );
  await options.received.note(wire, match.route.operation, requested);
  const fault = faults.take(wire.name, match.route.operation);
  if (fault?.fault === 'node-down') return cutOff(wire, response);
  const refusal = await faultBeforeHandling(wire, fault, { ...requested, params: match.params });
  if (refusal !== null) return sendAnswer(response, refusal);
  const played = fault !== null && FAULTS[fault.fault] === 'wire' ? fault : null;
  const answer = await match.route.handle(
    { ...requested, path: authorized.path, params: { ...authorized.params, ...match.params } },
    played,
  );
  if (fault?.fault === 'server-error') return sendAnswer(response, serverError(wire, requested.path));
  if (fault !== null && FAULTS[fault.fault] === 'answer') return sendWithFault(response, answer, fault.fault);
  return sendAnswer(response, answer);
}

function cutOff(wire: Wire, response: ServerResponse): void {
  response.socket?.resetAndDestroy();
  wire.cutOff?.();
}

/** Injects a fault before the request is handled; null when it is to be handled. */
async function faultBeforeHandling(
  wire: Wire,
  fault: Fault | null,
  request: WireRequest,
): Promise<Answer | null> {
  const { path, signal } = request;
  if (fault?.fault === 'retired-model') return wire.refuseModel?.(request) ?? null;
  if (fault?.fault === 'rate-limited') {
    const refusal = wire.refuse(429, 'too many requests', fault.retryAfter, path);
    return { ...refusal, headers: { ...refusal.headers, 'retry-after': String(fault.retryAfter) } };
  }
  if (fault?.fault === 'server-error' && !fault.accepted) return serverError(wire, path);
  // A client that disconnects has still sent the request: it is handled, as a real server would.
  if (fault?.fault === 'slow') await delay(fault.delayMs, undefined, { signal }).catch(() => undefined);
  return null;
}

function serverError(wire: Wire, path: string): Answer {
  return wire.refuse(500, 'internal server error', undefined, path);
}
