import { pipeline, type Readable, Transform } from 'node:stream';

import type { Dispatcher } from 'undici';

import type { Deadline } from './deadline.ts';
import { toHttpFailure } from './exchange.ts';
import { HttpFailure } from './http-client.ts';

export interface BodyOptions {
  readonly response: Dispatcher.ResponseData<unknown>;
  /** Largest body in bytes. */
  readonly maxBytes: number;
  readonly deadline: Deadline;
  readonly origin: string;
  readonly sent: boolean;
}

/** Reads the whole body into memory. Fails with TOO_LARGE as soon as it is known to be larger than the limit. */
export async function readBounded(options: BodyOptions): Promise<Buffer> {
  const { response, maxBytes, deadline } = options;
  const { body } = response;
  const chunks: Buffer[] = [];
  let bytes = 0;
  // By its events: most answers are one chunk, for which a pipeline or an iterator costs more than the answer.
  const whole = new Promise<void>((resolve, reject) => {
    body.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes > maxBytes) body.destroy(tooLarge(options));
    });
    body.once('end', resolve);
    // Also when nobody waits any more: an error that nobody hears would end the process.
    body.on('error', reject);
    body.once('close', () => reject(new Error('closed before its end')));
  });
  if (announcedBytes(options) > maxBytes) body.destroy(tooLarge(options));
  try {
    await whole;
  } catch (error) {
    throw toHttpFailure(error, options, deadline);
  }
  return Buffer.concat(chunks, bytes);
}

function announcedBytes({ response }: BodyOptions): number {
  return Number(response.headers['content-length'] ?? 0);
}

function tooLarge({ origin, maxBytes }: BodyOptions): HttpFailure {
  return new HttpFailure('TOO_LARGE', `the answer of ${origin} is larger than ${maxBytes} bytes`, {
    sent: true,
  });
}

/** The body as a stream that fails with an HttpFailure when it is too large, cut off or stalled. */
export function boundedBody(options: BodyOptions): Readable {
  const { response, maxBytes, deadline } = options;
  let bytes = 0;
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > maxBytes) done(tooLarge(options));
      else done(null, chunk);
    },
    destroy(error, done) {
      deadline.clear();
      done(error === null ? null : toHttpFailure(error, options, deadline));
    },
  });
  // Failures reach the reader through `counter`; here both streams are only destroyed together.
  pipeline(response.body, counter, () => undefined);
  if (announcedBytes(options) > maxBytes) counter.destroy(tooLarge(options));
  return counter;
}
