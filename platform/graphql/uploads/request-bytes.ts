import type { IncomingMessage } from 'node:http';

/**
 * How long the request is that an upload came with, as its sender declared it: nothing in a multipart body says how long
 * a part will be. Known of the `Upload` before its file has begun, and of the file then.
 */
const declared = new WeakMap<object, number>();

/** Passes the declared length on to a subgraph in another process, as the body sent there has none. */
export const REQUEST_BYTES_HEADER = 'x-request-bytes';

/** Bytes that the sender of a request declared; null when it is chunked. */
export function declaredBytes({ headers }: Pick<IncomingMessage, 'headers'>): number | null {
  const bytes = Number(headers['content-length'] ?? headers[REQUEST_BYTES_HEADER]);
  return Number.isSafeInteger(bytes) && bytes >= 0 ? bytes : null;
}

/** Remembers how long the request of an upload, or of its file, is. */
export function rememberRequestBytes(upload: object, bytes: number | null): void {
  if (bytes !== null) declared.set(upload, bytes);
}

/** How long the request of an upload, or of its file, is; null when nobody said. */
export function findRequestBytes(upload: object): number | null {
  return declared.get(upload) ?? null;
}
