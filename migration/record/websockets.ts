import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { pipeline, type Duplex } from 'node:stream';

import { toError } from '../../platform/errors.ts';

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
export function passWebSocket({ to, onFailure }: PassingOptions, { request, socket, head }: Upgrade): void {
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
