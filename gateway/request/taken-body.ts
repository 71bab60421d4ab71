import type { IncomingMessage } from 'node:http';

import { whenClosed } from '../../platform/http/server.ts';
import { requestSlot } from '../../platform/request-slot.ts';

/** JSON bodies that were read before anybody was asked who serves the request. */

/** A body that was read: its value, or that it is no JSON object or list. */
export type TakenBody = { readonly value: unknown } | 'unreadable';

const taken = requestSlot<IncomingMessage, TakenBody>('body');

/** The body of a request that was read already; undefined where nobody has. */
export function takenBodyOf(request: IncomingMessage): TakenBody | undefined {
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
