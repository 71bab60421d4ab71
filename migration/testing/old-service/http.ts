import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request to the old installation. */
export interface OldRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly authorization: string;
  readonly body: Buffer;
  /** Of the service itself. */
  readonly origin: string;
}

/** Its answer; 200 unless said otherwise. */
export interface OldAnswer {
  readonly status?: number;
  readonly body: object | Buffer;
  readonly contentType?: string;
}

/** Serves on a free port; answers its origin. */
export async function serve(answer: (request: OldRequest) => OldAnswer | null): Promise<string> {
  let origin = '';
  const server = createServer((request, response) => {
    void read(request, origin).then((read) => {
      if (read.path === '/events') sendEvents(response);
      else send(response, answer(read) ?? { status: 404, body: { detail: 'Not Found' } });
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return origin;
}

async function read(request: IncomingMessage, origin: string): Promise<OldRequest> {
  const url = new URL(request.url ?? '/', origin);
  const { authorization = '' } = request.headers;
  const body = Buffer.concat(await Array.fromAsync(request));
  return {
    method: request.method ?? 'GET',
    path: url.pathname,
    query: url.searchParams,
    authorization,
    body,
    origin,
  };
}

function send(response: ServerResponse, { status = 200, body, contentType }: OldAnswer): void {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    'content-type': contentType ?? 'application/json',
    'content-length': bytes.length,
    'x-old-service': 'yes',
  });
  response.end(bytes);
}

/** Two events, the second only when the first has been read on: a proxy that collects a stream never gets it. */
function sendEvents(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write('data: one\n\n');
  setTimeout(() => response.end('data: two\n\n'), 200);
}
