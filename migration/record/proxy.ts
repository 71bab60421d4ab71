import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import { pipeline, type Duplex } from 'node:stream';

import { toError } from '../../platform/errors.ts';
import { expandBody } from '../traffic/content-coding.ts';
import { MAX_KEPT_BYTES, recordedBody, type Exchange, type Headers } from '../traffic/exchange.ts';

/** A proxy that passes everything on unchanged, and reports each request with its answer. */
export interface RecordingProxyOptions {
  /** Base address of the service that is recorded, without a trailing slash. */
  readonly to: string;
  /** Called when an answer has ended, whole or not. */
  readonly onExchange: (exchange: Exchange) => void;
  readonly onFailure: (error: Error) => void;
}

/** Milliseconds without a byte in either direction after which a connection is given up. */
const IDLE_MS = 600_000;

/** Headers of one connection, not of the message. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'proxy-connection', 'upgrade', 'host']);

/** Creates the proxy; the caller lets it listen. */
export function createRecordingProxy(options: RecordingProxyOptions): Server {
  const server = createServer((request, response) => pass(options, request, response));
  // Long uploads and streams are the client's business.
  server.requestTimeout = 0;
  server.on('upgrade', (request, socket, head) => {
    passWebSocket(options, { request, socket, head });
  });
  return server;
}

function pass(options: RecordingProxyOptions, request: IncomingMessage, response: ServerResponse): void {
  const target = new URL(options.to + (request.url ?? '/'));
  const send = target.protocol === 'https:' ? httpsRequest : httpRequest;
  const sent = keepCopy(MAX_KEPT_BYTES.request);
  const onward = send(
    target,
    { method: request.method, headers: [...passedHeaders(request.rawHeaders), 'host', target.host] },
    (answer) => answerWith(options, { request, response, answer, sent }),
  );
  onward.setTimeout(IDLE_MS, () => onward.destroy(new Error('the service was silent for ten minutes')));
  onward.on('error', (error) => {
    if (response.destroyed || response.writableEnded) return;
    options.onFailure(error);
    if (response.headersSent) response.destroy();
    else response.writeHead(502, { 'content-type': 'text/plain' }).end(`recording proxy: ${error.message}\n`);
  });
  response.on('close', () => {
    if (!response.writableFinished) onward.destroy();
  });
  request.on('data', sent.add);
  request.pipe(onward);
}

interface Passing {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly answer: IncomingMessage;
  readonly sent: BodyCopy;
}

function answerWith({ onExchange, onFailure }: RecordingProxyOptions, passing: Passing): void {
  const { request, response, answer, sent } = passing;
  const got = keepCopy(MAX_KEPT_BYTES.response);
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage, passedHeaders(answer.rawHeaders));
  // An event stream begins before its first event.
  response.flushHeaders();
  answer.on('data', got.add);
  answer.on('error', (error) => {
    // Of a caller that hangs up, the answer is given up here.
    if (!response.destroyed) onFailure(toError(error));
    response.destroy();
  });
  answer.pipe(response);
  answer.on('close', () => {
    onExchange({
      at: new Date().toISOString(),
      request: {
        method: request.method ?? 'GET',
        target: request.url ?? '/',
        ...recorded(request, sent),
      },
      response: { status: answer.statusCode ?? 502, ...recorded(answer, got) },
    });
  });
}

/** A message as it is recorded: without its compression, and without a body that is too large or can't be read. */
function recorded(message: IncomingMessage, copy: BodyCopy): Pick<Exchange['request'], 'headers' | 'body'> {
  const { 'content-encoding': coding = 'identity', ...headers } = joined(message);
  const [bytes, total] = [copy.bytes(), copy.total()];
  const expanded = total > bytes.length ? null : expandBody(bytes, coding, copy.most);
  if (expanded === null) return { headers, body: { omittedBytes: total } };
  return { headers, body: recordedBody(expanded, headers['content-type']) };
}

function passedHeaders(raw: readonly string[]): string[] {
  return raw.filter((_, index) => !HOP_BY_HOP.has(raw[index - (index % 2)]?.toLowerCase() ?? ''));
}

function joined({ headers }: IncomingMessage): Headers {
  const entries = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(', ') : (value ?? ''),
  ]);
  return Object.fromEntries(entries);
}

/** A copy of the first bytes of a body. */
interface BodyCopy {
  /** How many bytes are kept. */
  readonly most: number;
  readonly add: (chunk: Buffer) => void;
  readonly bytes: () => Buffer;
  /** Of all that came. */
  readonly total: () => number;
}

function keepCopy(most: number): BodyCopy {
  const chunks: Buffer[] = [];
  let size = 0;
  let total = 0;
  return {
    most,
    add(chunk) {
      const part = chunk.subarray(0, most - size);
      if (part.length > 0) chunks.push(part);
      size += part.length;
      total += chunk.length;
    },
    bytes: () => Buffer.concat(chunks),
    total: () => total,
  };
}

/** A request to upgrade a connection, as a server gets it. */
interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** What came right after the request. */
  readonly head: Buffer;
}

interface PassingOptions {
  /** Base address of the service, without a trailing slash. */
  readonly to: string;
  readonly onFailure: (error: Error) => void;
}

/** Passes a WebSocket on byte by byte. It is not recorded: no documented operation is one. */
function passWebSocket({ to, onFailure }: PassingOptions, { request, socket, head }: Upgrade): void {
  const target = new URL(to + (request.url ?? '/'));
  const send = target.protocol === 'https:' ? httpsRequest : httpRequest;
  const headers = request.rawHeaders.filter(
    (_, index) => request.rawHeaders[index - (index % 2)]?.toLowerCase() !== 'host',
  );
  const onward = send(target, { method: request.method, headers: [...headers, 'host', target.host] });
  onward.on('upgrade', (answer, upstream, upstreamHead) => {
    socket.write(formatHead(answer));
    socket.write(upstreamHead);
    upstream.write(head);
    pipeline(socket, upstream, socket, () => undefined);
  });
  onward.on('response', (answer) => {
    socket.write(formatHead(answer));
    pipeline(answer, socket, () => undefined);
  });
  onward.on('error', (error) => {
    onFailure(toError(error));
    socket.end('HTTP/1.1 502 Bad Gateway\r\nconnection: close\r\n\r\n');
  });
  socket.on('error', () => onward.destroy());
  onward.end();
}

/** An answer that is no upgrade ends the connection: its length may have been that of chunks. */
function formatHead({ statusCode = 502, statusMessage = '', rawHeaders }: IncomingMessage): string {
  const pairs = Array.from({ length: rawHeaders.length / 2 }, (_, index) =>
    rawHeaders.slice(index * 2, index * 2 + 2),
  );
  const lines = pairs
    .filter(([name = '']) => statusCode === 101 || !/^(transfer-encoding|connection)$/i.test(name))
    .map((pair) => pair.join(': '));
  if (statusCode !== 101) lines.push('connection: close');
  return [`HTTP/1.1 ${statusCode} ${statusMessage}`, ...lines, '', ''].join('\r\n');
}
