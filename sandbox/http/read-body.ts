import type { IncomingMessage } from 'node:http';

/** The request body is too large. */
export class BodyTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`the request body is larger than ${maxBytes} bytes`);
    this.name = 'BodyTooLarge';
  }
}

/** Reads a whole request body. Throws BodyTooLarge beyond `maxBytes`, after which the connection cannot be used again. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new BodyTooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}
