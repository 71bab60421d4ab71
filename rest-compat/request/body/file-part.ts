import { Readable } from 'node:stream';

import { AppError } from '../../../platform/errors.ts';
import { MalformedBody } from './body.ts';

/** A file part while it arrives. `body` can be read once; it fails with PAYLOAD_TOO_LARGE past the limit. */
export interface IncomingFile {
  /** Name of the form field. */
  readonly field: string;
  /** File name as the sender gave it, without any folder; empty when it gave none. */
  readonly filename: string;
  readonly contentType: string;
  readonly encoding: string;
  readonly body: Readable;
  /** Of the whole request, as its sender declared it; null when nobody did. */
  readonly requestBytes: number | null;
}

/**
 * Limits the parser's file stream: one byte too many is an error instead of a truncated file. When the limited stream is
 * no longer read, the rest of the part is discarded, so that the form goes on.
 */
export function limitedBody(part: Readable, maxBytes: number): Readable {
  let bytes = 0;
  const guarded = new Readable({
    read: () => part.resume(),
    destroy: (error, done) => {
      part.resume();
      done(error);
    },
  });
  // There may be no reader when the caller disconnects; a reader still sees the error.
  guarded.on('error', () => undefined);
  part.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (guarded.destroyed) return;
    if (bytes > maxBytes) {
      guarded.destroy(new AppError('PAYLOAD_TOO_LARGE', `the file is larger than ${maxBytes} bytes`));
    } else if (!guarded.push(chunk)) {
      part.pause();
    }
  });
  part.on('end', () => {
    if (!guarded.destroyed) guarded.push(null);
  });
  part.on('error', (error) => guarded.destroy(truncated(error)));
  part.on('close', () => {
    if (!part.readableEnded) guarded.destroy(truncated());
  });
  part.pause();
  return guarded;
}

/** The error for whoever reads the part. Its cause is the error for the form as a whole. */
function truncated(error?: Error): AppError {
  const message = 'the file part ended too early';
  const cause = new MalformedBody(error?.message ?? message, { cause: error });
  return new AppError('BAD_USER_INPUT', message, { cause });
}

/** Waits for the first byte or the end of a stream. True when it ended without a byte. */
export async function isEmpty(body: Readable): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      stop();
      // `readable` fires for the end too, with nothing to read then.
      const chunk: unknown = body.read();
      if (chunk !== null) body.unshift(chunk);
      resolve(chunk === null);
    };
    const fail = (error: Error): void => {
      stop();
      reject(error);
    };
    const stop = (): void => {
      body.off('readable', look).off('end', look).off('error', fail);
    };
    body.on('readable', look).on('end', look).on('error', fail);
  });
}
