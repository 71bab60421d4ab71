import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

import type { Fault } from '../faults/faults.ts';
import type { Answer } from './answer.ts';

/** One stand-in: an upstream's routes under a mount, with the real wire protocol. */
export interface Wire {
  /** midjourney, openai: how faults and latency name it. */
  readonly name: string;
  /** First path segment on the sandbox's listener; the rest is the upstream's own path. */
  readonly mount: string;
  readonly routes: readonly WireRoute[];
  /** Runs before routing: checks the credential and may rewrite the path. Answers the request, or the path to route. */
  readonly authorize?: (
    request: WireRequest,
  ) =>
    | { readonly path: string; readonly params: Readonly<Record<string, string>> }
    | { readonly answer: Answer };
  /** Takes a WebSocket; absent where the wire has none. */
  readonly upgrade?: (upgrade: WireUpgrade) => void;
  /** Called by the fault `node-down`: closes all connections. */
  readonly cutOff?: () => void;
  /** Headers of every answer, such as the id of the request. */
  readonly headers?: () => Readonly<Record<string, string>>;
  /**
   * An HTTP error in the upstream's format; with 429 also the seconds to wait, for wires that have them in the body, and
   * the path, for wires with several APIs.
   */
  readonly refuse: (
    status: 404 | 413 | 429 | 500,
    message: string,
    retryAfter?: number,
    path?: string,
  ) => Answer;
  /** The refusal of a model that has ended (the fault `retired-model`); absent where starts name no model. */
  readonly refuseModel?: (request: WireRequest) => Answer;
}

/** A WebSocket upgrade request of node:http. */
export interface WireUpgrade {
  /** The upstream's own path, without the mount. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** One operation of a wire. */
export interface WireRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** `/mj/task/:id/fetch`: segments with a colon are parameters. */
  readonly path: string;
  /** How faults name it. */
  readonly operation: string;
  /** Handles a request. `fault` is one that only the wire itself can inject (FAULTS, `wire`). */
  readonly handle: (request: WireRequest, fault: Fault | null) => Promise<Answer> | Answer;
}

/** A request to a wire, with its whole body. */
export interface WireRequest {
  readonly method: string;
  /** The upstream's own path, without the mount. */
  readonly path: string;
  /** Of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  /** Origin and mount of this wire, for the URLs in its answers. */
  readonly baseUrl: string;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

/** The route of a request and its path parameters; null when the wire has none. */
export function matchRoute(
  routes: readonly WireRoute[],
  method: string,
  path: string,
): { route: WireRoute; params: Record<string, string> } | null {
  const wanted = path.split('/');
  for (const route of routes) {
    if (route.method !== method) continue;
    const params = matchPath(route.path.split('/'), wanted);
    if (params !== null) return { route, params };
  }
  return null;
}

function matchPath(pattern: readonly string[], wanted: readonly string[]): Record<string, string> | null {
  if (pattern.length !== wanted.length) return null;
  const params: Record<string, string> = {};
  for (const [index, segment] of pattern.entries()) {
    const input = wanted[index] ?? '';
    if (segment.startsWith(':')) params[segment.slice(1)] = decoded(input);
    else if (segment !== input) return null;
  }
  return params;
}

/** A segment as its sender meant it; as it came when it can't be decoded. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The body as a JSON object; null when it is something else. */
export function jsonObject(request: WireRequest): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(request.body.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null; // the wire answers its own error for invalid JSON
  }
}
