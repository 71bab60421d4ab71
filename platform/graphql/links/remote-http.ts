import { Readable } from 'node:stream';

import { Pool } from 'undici';

import { AppError } from '../../errors.ts';
import { createDeadline, type Deadline } from '../../http/deadline.ts';

/** The HTTP side of a remote link: POST to one URL over pooled connections, bounded in time and size. */
export interface PostClient {
  post(request: PostRequest): Promise<PostAnswer>;
  close(): Promise<void>;
}

interface PostRequest {
  readonly headers: Readonly<Record<string, string>>;
  /** A text, or a stream of chunks. For a stream the timeout holds between chunks, and again for the response. */
  readonly body: string | AsyncIterable<Uint8Array>;
  readonly timeoutMs: number;
  /** Aborted when the caller hangs up. */
  readonly signal: AbortSignal;
}

/** A whole response, bounded in size. */
export interface PostAnswer {
  readonly status: number;
  readonly text: string;
}

export interface PostClientOptions {
  readonly url: string;
  readonly maxResponseBytes: number;
}

/** Further requests wait within their timeout. */
const MAX_CONNECTIONS = 128;

/** Makes the client of one URL. `post` throws UNAVAILABLE with the transport's error as its cause. */
export function createPostClient({ url, maxResponseBytes }: PostClientOptions): PostClient {
  const { origin, pathname, search } = new URL(url);
  const pool = new Pool(origin, {
    connections: MAX_CONNECTIONS,
    allowH2: false,
    maxResponseSize: maxResponseBytes,
    // The deadline below applies; undici's timeouts would count from the first byte of an upload.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    async post({ headers, body, timeoutMs, signal }) {
      const deadline = createDeadline({ timeoutMs, signal });
      try {
        const answer = await pool.request({
          method: 'POST',
          path: pathname + search,
          headers,
          body: typeof body === 'string' ? body : Readable.from(watched(body, deadline), UPLOAD_STREAM),
          signal: deadline.signal,
        });
        return { status: answer.statusCode, text: await answer.body.text() };
      } catch (cause) {
        if (cause instanceof AppError) throw cause;
        throw new AppError(
          'UNAVAILABLE',
          deadline.reason() === 'TIMED_OUT' ? 'no answer in time' : 'no answer',
          { cause },
        );
      } finally {
        deadline.clear();
      }
    },
    close: () => pool.destroy(),
  };
}

const UPLOAD_STREAM = { objectMode: false, highWaterMark: 256 * 1024 };

async function* watched(body: AsyncIterable<Uint8Array>, deadline: Deadline): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    deadline.extend();
    yield chunk;
  }
  deadline.extend();
}
