import { type Answer, KilnError, type KilnErrorOptions } from './errors.ts';

type Credential = string | null | undefined;

/** How to reach a Kiln. */
export interface ConnectionOptions {
  /** Where Kiln is, as https://kiln.example.com or with a path. */
  readonly url: string;
  /** A service key or access token, or a function that is asked for it before each request. None: without a credential. */
  readonly key?: string | null | (() => Credential | Promise<Credential>) | undefined;
  /** In place of the global fetch. */
  readonly fetch?: ((address: string, init: RequestInit) => Promise<Response>) | undefined;
  /** How often a request that did not get through is sent again (default 8), after 0.5 s at first and 10 s at last: some 45 s. */
  readonly retries?: number | undefined;
  /** Longest pause in milliseconds that a server may ask for before a request is sent again (default 60,000); what wants more is thrown with `retryAfter`. */
  readonly longestPauseMs?: number | undefined;
  /** Milliseconds without an answer, or without a sign of life in a stream, after which a connection is lost (default 60,000). */
  readonly timeoutMs?: number | undefined;
  /** Follows over one WebSocket (`createSocket` of `@kiln/client/socket`) in place of an event stream each. */
  readonly socket?: KilnSocket | undefined;
}

/** One socket for everything that is followed. */
export interface KilnSocket {
  /** How often what is followed is begun again without an event between. */
  readonly retries: number;
  /** The answers of a subscription, until the socket breaks. */
  open(asked: GraphRequest): AsyncGenerator<Answer, void, undefined>;
  /** Hangs up: what is followed goes on over another connection, with the credential of then. */
  restart(): void;
  /** Hangs up for good. */
  close(): Promise<void>;
}

/** A request of GraphQL. */
export interface GraphRequest {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal | undefined;
}

/** The way to one Kiln. */
export interface Connection {
  readonly graphqlUrl: string;
  readonly retries: number;
  readonly longestPauseMs: number;
  readonly timeoutMs: number;
  readonly socket: KilnSocket | undefined;
  /** Headers with the credential of this moment. */
  headers(): Promise<Record<string, string>>;
  /** Sends once. Throws UNREACHABLE where no answer came; aborting throws the signal's reason. */
  send(init: RequestInit & { readonly headers: Record<string, string> }): Promise<Response>;
}

/** Longest pause that a server may ask of whoever says nothing else, or follows something. */
export const LONGEST_PAUSE_MS = 60_000;

/** Makes the way to a Kiln; nothing is sent yet. */
export function connect(options: ConnectionOptions): Connection {
  const { url, key, socket, retries = 8, longestPauseMs = LONGEST_PAUSE_MS, timeoutMs = 60_000 } = options;
  const graphqlUrl = `${url.replace(/\/+$/, '')}/graphql`;
  return {
    graphqlUrl,
    retries,
    longestPauseMs,
    timeoutMs,
    socket,
    async headers() {
      const credential = typeof key === 'function' ? await key() : key;
      return credential ? { authorization: `Bearer ${credential}` } : {};
    },
    async send(init) {
      try {
        return await (options.fetch ?? fetch)(graphqlUrl, { method: 'POST', ...init });
      } catch (error) {
        if (init.signal?.aborted) throw init.signal.reason;
        throw new KilnError('UNREACHABLE', `no answer from ${graphqlUrl}`, { cause: error });
      }
    },
  };
}

/** How long a connection may be silent. */
export interface Watch {
  /** Aborted by the caller's signal, with its reason, or when nothing was heard for too long. */
  readonly signal: AbortSignal;
  /** Something was heard. */
  readonly heard: () => void;
  readonly end: () => void;
}

/** Watches over a connection until `end`. */
export function watch(timeoutMs: number, outer?: AbortSignal): Watch {
  const controller = new AbortController();
  const stop = () => controller.abort(outer?.reason);
  const giveUp = () =>
    controller.abort(new KilnError('UNREACHABLE', `nothing was heard for ${timeoutMs / 1_000} s`));
  let timer = setTimeout(giveUp, timeoutMs);
  if (outer?.aborted) stop();
  outer?.addEventListener('abort', stop);
  return {
    signal: controller.signal,
    heard() {
      clearTimeout(timer);
      timer = setTimeout(giveUp, timeoutMs);
    },
    end() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', stop);
    },
  };
}

/** Most of an answer or of an event that is read. */
const MAX_LENGTH = 32 * 1024 * 1024;

/** Reads the answer of a request. Throws BAD_ANSWER for what is not GraphQL's, as a proxy's page. */
export async function readAnswer(response: Response): Promise<Answer> {
  const text = await readText(response);
  try {
    const answer = JSON.parse(text) as Answer | null;
    if (answer?.data || answer?.errors?.[0]) return withRetryAfter(answer, response);
  } catch (error) {
    throw badAnswer(response, error);
  }
  throw badAnswer(response);
}

async function readText(response: Response): Promise<string> {
  let text = '';
  for await (const chunk of streamText(response)) {
    text += chunk;
    if (text.length > MAX_LENGTH) throw badAnswer(response);
  }
  return text;
}

/** The pieces of a body as they come. Leaving the loop hangs up. */
export async function* streamText({ body }: Response): AsyncGenerator<string, void, undefined> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const piece = await reader?.read();
      if (!piece || piece.done) return;
      yield piece.value;
    }
  } catch (error) {
    throw error instanceof KilnError
      ? error
      : new KilnError('UNREACHABLE', 'the answer broke off', { cause: error });
  } finally {
    // What ends a body that has failed fails as well, and was thrown above.
    reader?.cancel().catch(() => undefined);
  }
}

/** An answer that Kiln did not write: what stands before it is away, for all that is known. */
function badAnswer({ status }: Response, cause?: unknown): KilnError {
  return new KilnError('BAD_ANSWER', `HTTP ${status} without an answer of GraphQL`, { cause });
}

/** Limits of the gateway say it in a header alone. */
function withRetryAfter(answer: Answer, response: Response): Answer {
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  const [first, ...others] = answer.errors ?? [];
  if (first === undefined || Number.isNaN(retryAfter)) return answer;
  return { ...answer, errors: [{ ...first, extensions: { retryAfter, ...first.extensions } }, ...others] };
}

/** Nothing was started: such requests may always be sent again. */
const REFUSED: readonly string[] = ['RATE_LIMITED', 'QUEUE_FULL'];
/** It is not known what became of it: sent again only where that changes nothing. */
export const LOST: readonly string[] = ['UNREACHABLE', 'UNAVAILABLE', 'BAD_ANSWER'];

/** An attempt that failed. */
interface Failed {
  /** Which attempt it was, from 0. */
  readonly attempt: number;
  readonly retries: number;
  /** Codes after which it may be sent again, beside those of what was refused. */
  readonly passing: readonly string[];
  /** Longest pause that is waited for; what wants more is thrown to the caller, who sees it in `retryAfter`. */
  readonly longestPauseMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Waits before trying again: as long as the error says, else 0.5 s, 1 s, ... 10 s. Throws the error when there is nothing to
 * wait for: too many attempts, or another sort of error.
 */
export async function pauseAfter(
  error: unknown,
  { attempt, retries, passing, longestPauseMs, signal }: Failed,
): Promise<void> {
  if (!(error instanceof KilnError) || attempt >= retries) throw error;
  if (!REFUSED.includes(error.code) && !passing.includes(error.code)) throw error;
  const { retryAfter }: KilnErrorOptions = error;
  const ms = retryAfter === undefined ? Math.min(500 * 2 ** attempt, 10_000) : retryAfter * 1_000;
  if (ms > longestPauseMs) throw error;
  await pause(ms, signal);
}

/** As much of a browser as is used, so that the types need none. */
interface OnlinePage {
  addEventListener?(name: 'online', listener: () => void): void;
  removeEventListener?(name: 'online', listener: () => void): void;
}

/** Waits so long, or until a browser says that it is online again. */
async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const page = globalThis as OnlinePage;
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
    page.addEventListener?.('online', done);
    function done() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      page.removeEventListener?.('online', done);
      if (signal?.aborted) reject(signal.reason as Error);
      else resolve();
    }
  });
}
