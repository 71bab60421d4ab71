import { Readable } from 'node:stream';

import { AppError } from '../../errors.ts';
import { createDeadline, type Deadline, createTimeLimits, type TimeLimits } from '../../http/deadline.ts';
import type { Endpoint } from '../../http/endpoints/endpoint-health.ts';
import type { Endpoints } from '../../http/endpoints/endpoints.ts';
import { createPools, type Pools, sendToOne, type TlsFiles } from '../../http/endpoints/failover.ts';
import {
  type Abandonable,
  type AnswerHeaders,
  postText,
  type TextAnswer,
} from '../../http/endpoints/post-text.ts';
import { parseJson } from '../../json.ts';

/** The HTTP side of a remote link: POST to a service over pooled connections, bounded in time and size. */
export interface PostClient {
  post(request: PostRequest): Promise<PostAnswer>;
  close(): Promise<void>;
}

/** The client of a link itself, which can ask in other ways than by POST, with the same limits and repetitions. */
export interface ExchangeClient extends PostClient {
  exchange(request: Exchange): Promise<PostAnswer>;
  /** One POST to one process. */
  postTo(
    endpoint: Endpoint,
    request: Pick<Sent<string>, 'headers' | 'body' | 'isRead'>,
    call: Abandonable,
  ): Promise<TextAnswer>;
}

/** One request, however it is sent. */
export interface Exchange extends Pick<PostRequest, 'isRead' | 'signal'> {
  /** Sends it to one process; what sets `call.abandon` is given up by it. */
  readonly send: (endpoint: Endpoint, call: Abandonable) => Promise<TextAnswer>;
}

/** One request; the client sends nothing that is not in it. */
export interface PostRequest {
  readonly headers: Readonly<Record<string, string>>;
  /** A text, or a stream of chunks. For a stream the timeout holds between chunks, and again for the response. */
  readonly body: string | AsyncIterable<Uint8Array>;
  /** Whether it changes nothing, so that it may be sent again to another process after any failure. */
  readonly isRead: boolean;
  /** Aborted when the caller hangs up. */
  readonly signal: AbortSignal;
}

/** A whole answer. */
export interface PostAnswer {
  readonly status: number;
  /** Parses its text: undefined where that is no JSON, else objects that are the caller's to change. */
  readonly json: () => unknown;
  /** As it came from one of our own processes. */
  readonly bytes?: Buffer | undefined;
  /** Absent where it came over a channel. */
  readonly headers?: AnswerHeaders | undefined;
}

export interface PostClientOptions {
  readonly endpoints: Endpoints;
  /** Milliseconds for a whole response; for streams between two chunks. */
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  /** Most connections to one process (default 128); further requests wait within their timeout. */
  readonly connections?: number | undefined;
  /** Certificates (default: those of the system). */
  readonly tls?: TlsFiles | undefined;
}

const MAX_CONNECTIONS = 128;

/** A proxy's answers in place of the service's. */
const NOT_ITS_OWN = new Set([502, 503, 504]);

function isNotItsOwn({ status, text }: TextAnswer): boolean {
  return NOT_ITS_OWN.has(status) && !text.startsWith('{');
}

/**
 * Makes the client. What one process does not answer another one is asked: reads always, other texts when no connection
 * was made, streams never. `post` throws UNAVAILABLE with the transport's error as its cause.
 */
export function createPostClient(options: PostClientOptions): ExchangeClient {
  const { endpoints, timeoutMs, maxResponseBytes, connections = MAX_CONNECTIONS, tls } = options;
  const pools = createPools(endpoints, {
    connections,
    connect: tls,
    allowH2: false,
    maxResponseSize: maxResponseBytes,
    // The limits below apply; undici's timeouts would count from the first byte of an upload.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const client: Client = { endpoints, pools, timeoutMs, limits: createTimeLimits(timeoutMs) };
  const postTo: ExchangeClient['postTo'] = (endpoint, request, call) =>
    postText(pools.of(endpoint), { path: endpoints.path, ...request }, call);
  return {
    async post({ headers, body, isRead, signal }) {
      const send: Exchange['send'] = (endpoint, call) =>
        postTo(endpoint, { headers, body: body as string, isRead }, call);
      return toPostAnswer(
        await (typeof body === 'string'
          ? exchange(client, { isRead, signal, send })
          : sendStream(client, { headers, body, isRead, signal })),
      );
    },
    exchange: async (request) => toPostAnswer(await exchange(client, request)),
    postTo,
    close: () => pools.close(),
  };
}

interface Client {
  readonly endpoints: Endpoints;
  readonly pools: Pools;
  readonly timeoutMs: number;
  readonly limits: TimeLimits;
}

type Sent<Body> = Omit<PostRequest, 'body'> & { readonly body: Body };

function toPostAnswer({ status, text, bytes, headers }: TextAnswer): PostAnswer {
  return { status, json: () => parseJson(bytes === undefined ? text : bytes.toString()), bytes, headers };
}

async function exchange(client: Client, { isRead, signal, send }: Exchange): Promise<TextAnswer> {
  const { endpoints, limits } = client;
  const call: Abandonable = { abandon: null };
  const over = { aborted: signal.aborted, isLate: false };
  const hangUp = (): void => {
    over.aborted = true;
    call.abandon?.(new Error('nobody waits for the answer'));
  };
  const limit = limits.start(() => {
    over.isLate = true;
    hangUp();
  });
  signal.addEventListener('abort', hangUp);
  try {
    return await sendToOne<TextAnswer>({
      endpoints,
      signal: over,
      again: isRead ? 'always' : 'unsent',
      send(endpoint, lost) {
        if (over.aborted) throw new Error('nobody waits for the answer');
        const answer = send(endpoint, call);
        return lost === null ? answer : untilLost(answer, call, lost);
      },
      isFailure: isNotItsOwn,
    });
  } catch (cause) {
    throw unanswered(cause, over.isLate);
  } finally {
    limit.clear();
    signal.removeEventListener('abort', hangUp);
  }
}

/** Gives a call up when its endpoint is lost. */
async function untilLost<Answer>(
  answer: Promise<Answer>,
  call: Abandonable,
  lost: AbortSignal,
): Promise<Answer> {
  const leave = (): void => call.abandon?.(new Error('the process is gone', { cause: lost.reason }));
  if (lost.aborted) leave();
  lost.addEventListener('abort', leave);
  try {
    return await answer;
  } finally {
    lost.removeEventListener('abort', leave);
  }
}

async function sendStream(
  { endpoints, pools, timeoutMs }: Client,
  { headers, body, signal: callers }: Sent<AsyncIterable<Uint8Array>>,
): Promise<TextAnswer> {
  const deadline = createDeadline({ timeoutMs, signal: callers });
  const { signal } = deadline;
  const { path } = endpoints;
  try {
    return await sendToOne<TextAnswer>({
      endpoints,
      signal,
      again: 'never',
      async send(endpoint) {
        const stream = Readable.from(watched(body, deadline), UPLOAD_STREAM);
        const request = { method: 'POST', path, headers, body: stream, signal } as const;
        const answer = await pools.of(endpoint).request(request);
        return { status: answer.statusCode, text: await answer.body.text(), headers: answer.headers };
      },
      isFailure: isNotItsOwn,
    });
  } catch (cause) {
    throw unanswered(cause, deadline.reason() === 'TIMED_OUT');
  } finally {
    deadline.clear();
  }
}

function unanswered(cause: unknown, isLate: boolean): AppError {
  if (cause instanceof AppError) return cause;
  return new AppError('UNAVAILABLE', isLate ? 'no answer in time' : 'no answer', { cause });
}

const UPLOAD_STREAM = { objectMode: false, highWaterMark: 256 * 1024 };

async function* watched(body: AsyncIterable<Uint8Array>, deadline: Deadline): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    deadline.extend();
    yield chunk;
  }
  deadline.extend();
}
