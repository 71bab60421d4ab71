import { pipeline, type Readable, Transform } from 'node:stream';

import type { Dispatcher } from 'undici';

import type { Deadline } from './deadline.ts';
import { failureOf } from './failure.ts';
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
  const announced = response.headers['content-length'];
  // As most answers: no more bytes than announced can come, so nothing has to count them.
  if (announced !== undefined && Number(announced) <= maxBytes) {
    try {
      return Buffer.from(await response.body.arrayBuffer());
    } catch (error) {
      throw failureOf(error, options, deadline);
    }
  }
  const chunks: Buffer[] = [];
  for await (const chunk of boundedBody(options)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** The body as a stream that fails with an HttpFailure when it is too large, cut off or stalled. */
export function boundedBody({ response, maxBytes, deadline, origin, sent }: BodyOptions): Readable {
  let bytes = 0;
  const tooLarge = () =>
    new HttpFailure('TOO_LARGE', `the answer of ${origin} is larger than ${maxBytes} bytes`, { sent: true });
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > maxBytes) done(tooLarge());
      else done(null, chunk);
    },
    destroy(error, done) {
      deadline.clear();
      done(error === null ? null : failureOf(error, { origin, sent }, deadline));
    },
  });
  // Failures reach the reader through `counter`; here both streams are only destroyed together.
  pipeline(response.body, counter, () => undefined);
  if (Number(response.headers['content-length'] ?? 0) > maxBytes) counter.destroy(tooLarge());
  return counter;
}
