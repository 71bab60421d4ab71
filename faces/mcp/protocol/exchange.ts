import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import type { RequestContext } from '../../../platform/graphql/operations/executor.ts';

/** One request to the endpoint, whose caller is known. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: RequestContext;
}

/** The extension of the protocol by which a call answers a task. */
const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** The extension as a capability. */
export const TASKS_CAPABILITY = { extensions: { [TASKS_EXTENSION]: {} } } as const;

/** The capabilities that a request declares in its envelope, of the version of July 2026. */
export function declaresTasks(capabilities: unknown): boolean {
  const { extensions } = Object(capabilities) as { readonly extensions?: unknown };
  return Object.hasOwn(Object(extensions) as object, TASKS_EXTENSION);
}

/** Between Node's requests and responses and those of the web, which the protocol's SDK takes. */

/** The request as the web has it, with the body that was read already. */
export function webRequest(
  request: IncomingMessage,
  { url, body, signal }: { readonly url: string; readonly body: Buffer; readonly signal: AbortSignal },
): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    // Credentials were read already, and pseudo headers of other versions of HTTP are none.
    if (name === 'authorization' || name.startsWith(':') || value === undefined) continue;
    headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  return new Request(url, { method: 'POST', headers, body: new Uint8Array(body), signal });
}

/** Sends a response of the web. A client that hangs up ends its stream, which is no failure. */
export async function sendWebResponse(answer: Response, response: ServerResponse): Promise<void> {
  if (response.headersSent || response.destroyed) return;
  response.setHeaders(answer.headers);
  response.removeHeader('connection');
  response.setHeader('Cache-Control', 'no-store');
  response.writeHead(answer.status);
  if (answer.body === null) {
    response.end();
    return;
  }
  try {
    await pipeline(Readable.fromWeb(answer.body), response);
  } catch (error) {
    if (!response.destroyed) throw error;
  }
}

/** Sends an error of JSON-RPC with an HTTP status. */
export function sendRpcError(
  response: ServerResponse,
  status: number,
  { id = null, ...error }: RpcError,
): void {
  if (response.headersSent || response.destroyed) return;
  const text = JSON.stringify({ jsonrpc: '2.0', id, error });
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
  });
  response.end(text);
}

/** An error of JSON-RPC, and the request it answers. */
interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
  readonly id?: string | number | null | undefined;
}

/** Which pages may send requests to the endpoint: a page that a browser shows must not reach a server on its own machine. */

/** As CORS_ORIGINS says it: any, or exactly these. */
export type Origins = 'any' | readonly string[];

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * The rule: the server's own pages, those of CORS_ORIGINS, and where that says any (in development) pages of this machine.
 * `any` is not enough for others: a page of the internet could rebind its name to this machine.
 */
export function createOriginRule(origins: Origins, publicUrl: string): (origin: string) => boolean {
  const named = new Set(origins === 'any' ? [] : origins.map((origin) => origin.replace(/\/$/, '')));
  named.add(new URL(publicUrl).origin);
  return (origin) => {
    if (named.has(origin)) return true;
    return origins === 'any' && URL.canParse(origin) && LOOPBACK.has(new URL(origin).hostname);
  };
}
