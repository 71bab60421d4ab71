import type { IncomingMessage } from 'node:http';

import { AppError } from '../../../platform/errors.ts';

/** The body is not what its headers say (broken multipart framing, a compressed body): one 422 problem at `body`. */
export class MalformedBody extends Error {
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'MalformedBody';
  }
}

/** The caller disconnected before the body was complete, so there is nobody to reply to. */
export class ClientDisconnected extends Error {
  constructor() {
    super('the caller disconnected before the body was complete');
    this.name = 'ClientDisconnected';
  }
}

/** Refuses a compressed body, which the documents do not provide for. */
export function refuseEncodedBody(request: IncomingMessage): void {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return;
  throw new MalformedBody('Content-Encoding is not supported here: send the body uncompressed');
}

/** A request that was closed before it is read emits no further event: reading it would wait for ever. Throws ClientDisconnected. */
export function requireSender({ destroyed }: IncomingMessage): void {
  if (destroyed) throw new ClientDisconnected();
}

/** Reads a whole body of at most `maxBytes`. PAYLOAD_TOO_LARGE beyond; the caller drains what is left. */
export async function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  refuseEncodedBody(request);
  requireSender(request);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const stop = (): void => {
      request.off('data', take).off('end', finish).off('close', cut).off('error', cut);
    };
    const take = (chunk: Buffer): void => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes <= maxBytes) return;
      stop();
      request.pause();
      reject(tooLarge(maxBytes));
    };
    const finish = (): void => {
      stop();
      resolve(Buffer.concat(chunks));
    };
    const cut = (): void => {
      stop();
      reject(new ClientDisconnected());
    };
    request.on('data', take).on('end', finish).on('close', cut).on('error', cut);
  });
}

function tooLarge(maxBytes: number): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', `the body is larger than ${maxBytes} bytes`);
}

const drainCeilingMs = 30_000;

/**
 * Discards the rest of an unread body, so that a client that reads only after writing gets the response. After half a
 * minute the connection is closed instead.
 */
export function drain(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  const timer = setTimeout(() => request.destroy(), drainCeilingMs);
  timer.unref();
  request.once('close', () => clearTimeout(timer));
  request.once('end', () => clearTimeout(timer));
  // An error while draining concerns nobody any more.
  request.on('error', () => clearTimeout(timer));
  request.resume();
}
