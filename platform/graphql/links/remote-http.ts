import { Readable } from 'node:stream';

import { AppError } from '../../errors.ts';
import { createDeadline, type Deadline } from '../../http/deadline.ts';
import type { Endpoints } from '../../http/endpoints/endpoints.ts';
import { createPools, sendToOne } from '../../http/endpoints/failover.ts';

/** The HTTP side of a remote link: POST to a service over pooled connections, bounded in time and size. */
export interface PostClient {
  post(request: PostRequest): Promise<PostAnswer>;
  close(): Promise<void>;
}

interface PostRequest {
  readonly headers: Readonly<Record<string, string>>;
  /** A text, or a stream of chunks. For a stream the timeout holds between chunks, and again for the response. */
  readonly body: string | AsyncIterable<Uint8Array>;
  readonly timeoutMs: number;
  /** Whether it changes nothing, so that it may be sent again to another process after any failure. */
  readonly isRead: boolean;
  /** Aborted when the caller hangs up. */
  readonly signal: AbortSignal;
}

/** A whole response, bounded in size. */
export interface PostAnswer {
  readonly status: number;
  readonly text: string;
}

export interface PostClientOptions {
  readonly endpoints: Endpoints;
  readonly maxResponseBytes: number;
}

/** Further requests wait within their timeout. */
const MAX_CONNECTIONS = 128;

/** A proxy's answers in place of the service's. */
const NOT_ITS_OWN = new Set([502, 503, 504]);

/**
 * Makes the client. What one process does not answer another one is asked: reads always, other texts when no connection
 * was made, streams never. `post` throws UNAVAILABLE with the transport's error as its cause.
 */
export function createPostClient({ endpoints, maxResponseBytes }: PostClientOptions): PostClient {
  const pools = createPools(endpoints, {
    connections: MAX_CONNECTIONS,
    allowH2: false,
    maxResponseSize: maxResponseBytes,
    // The deadline below applies; undici's timeouts would count from the first byte of an upload.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const { path } = endpoints;
  return {
    async post({ headers, body, timeoutMs, isRead, signal: callers }) {
      const deadline = createDeadline({ timeoutMs, signal: callers });
      const isText = typeof body === 'string';
      const bodyOf = () => (isText ? body : Readable.from(watched(body, deadline), UPLOAD_STREAM));
      try {
        return await sendToOne<PostAnswer>({
          endpoints,
          signal: deadline.signal,
          again: isRead && isText ? 'always' : isText ? 'unsent' : 'never',
          async send(endpoint, signal) {
            const request = { method: 'POST', path, headers, body: bodyOf(), signal } as const;
            const answer = await pools.of(endpoint).request(request);
            return { status: answer.statusCode, text: await answer.body.text() };
          },
          isFailure: ({ status, text }) => NOT_ITS_OWN.has(status) && !text.startsWith('{'),
        });
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
    close: () => pools.close(),
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
