import type { IncomingMessage, ServerResponse } from 'node:http';

import { whenClosed } from '../../platform/http/server.ts';

/** How long a client may still read why its body was refused. */
const LINGER_MS = 1_000;

/**
 * Answers a request whose body is too large at once, and does not read the rest: that would cost more than all else. The
 * response is complete but not ended, as Node reads on after an ended one; the connection ends a moment later.
 */
export function refuseUnread(request: IncomingMessage, response: ServerResponse, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(413, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    Connection: 'close',
  });
  response.write(text);
  // After whoever reads it now has heard of the refusal, too.
  setImmediate(() => request.pause());
  const timer = setTimeout(() => request.socket.destroy(), LINGER_MS);
  whenClosed(response, () => clearTimeout(timer));
}

/** Calls back when a body is longer than so many bytes: at once where its length is declared, else when that many have come. */
export function whenTooLarge(request: IncomingMessage, maxBytes: number, tooLarge: () => void): boolean {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
    tooLarge();
    return true;
  }
  if (request.headers['transfer-encoding'] === undefined) return false;
  let bytes = 0;
  const count = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes <= maxBytes) return;
    request.off('data', count);
    tooLarge();
  };
  request.on('data', count);
  return false;
}
