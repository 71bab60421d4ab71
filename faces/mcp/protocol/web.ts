import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

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
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
  readonly id?: string | number | null | undefined;
}
