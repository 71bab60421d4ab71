import type { IncomingMessage } from 'node:http';

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
