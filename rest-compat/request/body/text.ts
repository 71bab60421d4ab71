import type { IncomingMessage } from 'node:http';

import { AppError } from '../../../platform/errors.ts';
import { ClientDisconnected, MalformedBody } from './failures.ts';

/** Refuses a compressed body, which the documents do not provide for. */
export function refuseEncodedBody(request: IncomingMessage): void {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return;
  throw new MalformedBody('Content-Encoding is not supported here: send the body uncompressed');
}

/** Reads a whole body of at most `maxBytes`. PAYLOAD_TOO_LARGE beyond; the caller drains what is left. */
export async function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  refuseEncodedBody(request);
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
