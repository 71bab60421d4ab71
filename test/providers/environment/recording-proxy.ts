import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';

import { request } from 'undici';

/** A request as it went over the wire. */
export interface SentRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** An answer that the proxy gives by itself. */
export interface ScriptedResponse {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, unless it is a text. */
  readonly body?: unknown;
}

/**
 * Stands before a stand-in on a socket of its own: writes down every request, passes it on, and gives single answers in
 * the upstream's place. A connection that breaks behind it breaks before it too.
 */
export interface RecordingProxy {
  readonly origin: string;
  readonly sent: readonly SentRequest[];
  /** Answers the next request whose path contains this, instead of the upstream. */
  respondNext(pathPart: string, answer: ScriptedResponse): void;
  reset(): void;
  close(): Promise<void>;
}

/** Opens a proxy before `target` (an origin); without one, everything unscripted is answered 404. */
export async function startRecordingProxy(target: string | null): Promise<RecordingProxy> {
  let sent: SentRequest[] = [];
  let scripted: { pathPart: string; answer: ScriptedResponse }[] = [];
  const server = createServer((request, response) => {
    serve(request, response).catch(() => request.socket.resetAndDestroy());
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const headers = plain(request.headers);
    const one = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers,
      body: Buffer.concat(chunks),
    };
    sent.push(one);
    const script = scripted.find(({ pathPart }) => one.path.includes(pathPart));
    scripted = scripted.filter((other) => other !== script);
    if (script !== undefined) return respond(response, script.answer);
    if (target === null) return respond(response, { status: 404 });
    await forward(one, target, response);
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get sent() {
      return sent;
    },
    respondNext: (pathPart, answer) => void scripted.push({ pathPart, answer }),
    reset() {
      sent = [];
      scripted = [];
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function respond(
  response: ServerResponse,
  { status = 200, headers = {}, body = '' }: ScriptedResponse,
): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
}

async function forward(sent: SentRequest, target: string, response: ServerResponse): Promise<void> {
  const hangUp = new AbortController();
  response.once('close', () => hangUp.abort());
  // The host stays what the caller called, as behind a proxy: it may be signed. A fetch would not let it.
  const { connection: _connection, 'content-length': _length, ...headers } = sent.headers;
  const answer = await request(`${target}${sent.path}`, {
    method: sent.method,
    headers,
    signal: hangUp.signal,
    ...(sent.method === 'GET' ? {} : { body: sent.body }),
  });
  const kept = Object.fromEntries(
    Object.entries(answer.headers).filter(
      ([name]) => !['connection', 'keep-alive', 'transfer-encoding'].includes(name),
    ),
  );
  if (String(kept['content-type']).startsWith('text/event-stream')) {
    response.writeHead(answer.statusCode, kept);
    return pipeline(answer.body, response);
  }
  const body = Buffer.from(await answer.body.arrayBuffer());
  response.writeHead(answer.statusCode, { ...kept, 'content-length': body.length });
  response.end(body);
}

function plain(headers: IncomingMessage['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
