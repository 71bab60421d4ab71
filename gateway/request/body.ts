import type { IncomingMessage, ServerResponse } from 'node:http';

import { whenClosed } from '../../platform/http/server.ts';
import { requestSlot } from '../../platform/request-slot.ts';

/** JSON bodies that were read before anybody was asked who serves the request. */

/** A body that was read: its value, or that it is no JSON object or list. */
export type TakenBody = { readonly value: unknown } | 'unreadable';

const taken = requestSlot<IncomingMessage, TakenBody>('body');

/** The body of a request that was read already; undefined where nobody has. */
export function findTakenBody(request: IncomingMessage): TakenBody | undefined {
  return taken.of(request);
}

/** Reads a body whose length is known and within its bound; null when the client was gone before its end. */
export async function takeBody(request: IncomingMessage): Promise<TakenBody | null> {
  const bytes = await readBytes(request);
  if (bytes === null) return null;
  const body = parseBody(bytes.toString());
  taken.keep(request, body);
  return body;
}

function readBytes(request: IncomingMessage): Promise<Buffer | null> {
  const { promise, resolve } = Promise.withResolvers<Buffer | null>();
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.once('end', () => resolve(chunks.length === 1 ? (chunks[0] ?? null) : Buffer.concat(chunks)));
  request.once('error', () => resolve(null));
  whenClosed(request, () => resolve(null));
  return promise;
}

/** As Express reads JSON: an object or a list, after a byte order mark at most. */
function parseBody(text: string): TakenBody {
  const json = text.startsWith('\uFEFF') ? text.slice(1) : text;
  if (!/^[ \t\n\r]*[[{]/.test(json)) return 'unreadable';
  try {
    return { value: JSON.parse(json) };
  } catch {
    return 'unreadable';
  }
}

/** Looking into a body that somebody else reads. */

/**
 * The first bytes of a body, all of it where it is not longer than `maxBytes` (and a chunk); they stay to be read by whoever serves
 * the request. Null when there are none, or the client was gone before.
 */
export function peekBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | null> {
  const { promise, resolve } = Promise.withResolvers<Buffer | null>();
  const length = Math.min(Number(request.headers['content-length'] ?? Infinity), maxBytes);
  const chunks: Buffer[] = [];
  let size = 0;
  const stop = (bytes: Buffer | null): void => {
    request.off('readable', look).off('close', gone).off('error', gone);
    resolve(bytes);
  };
  const gone = (): void => stop(null);
  const look = (): void => {
    // Reading on at the end would end the stream before its bytes are back.
    while (request.readableLength > 0) {
      const chunk = request.read() as Buffer;
      chunks.push(chunk);
      size += chunk.length;
    }
    if (size < length && !request.complete) return;
    if (size === 0) return stop(null);
    const bytes = Buffer.concat(chunks, size);
    request.unshift(bytes);
    stop(bytes);
  };
  request.on('readable', look).once('close', gone).once('error', gone);
  return promise;
}

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
