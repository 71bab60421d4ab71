import type { LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';

import type { Agent, Dispatcher } from 'undici';

import { once } from '../once.ts';
import type { Logger } from '../process/logger.ts';
import { boundedBody, readBounded } from './body.ts';
import { createDeadline, type Deadline } from './deadline.ts';
import { createFailingOrigins, type FailingOrigins } from './failing-origins.ts';
import { failureOf } from './failure.ts';
import { type HttpClient, type HttpDownload, HttpFailure, type HttpRequest } from './http-client.ts';
import { redirectOf } from './redirect.ts';
import { type OutboundRule, publicLookup } from './safe-url.ts';

export interface HttpClientOptions {
  readonly outbound: OutboundRule;
  readonly logger: Logger;
  /** Name resolution for addresses that must be public (default: the system's). */
  readonly lookup?: LookupFunction;
  /** About the pause before the first retry of a safe call in milliseconds (default 300); doubles each time. */
  readonly firstRetryMs?: number;
}

const CONNECT_TIMEOUT_MS = 10_000;
const CONNECTIONS_PER_ORIGIN = 64;
const MAX_REDIRECTS = 5;
const MAX_RETRIES = 3;
const FIRST_RETRY_MS = 300;
const RETRIED_STATUSES = new Set([429, 502, 503, 504]);
const AWAY_STATUSES = new Set([502, 503, 504]);

/** Makes the outbound HTTP client of a process, on undici. */
export function createHttpClient({
  outbound,
  logger,
  lookup,
  firstRetryMs = FIRST_RETRY_MS,
}: HttpClientOptions): HttpClient {
  const agents = once(() => createAgents(lookup));
  const parts = { agents, outbound, logger, firstRetryMs, origins: createFailingOrigins() };
  const start = (request: HttpRequest, deadline: Deadline) => withRetries(parts, request, deadline);
  return {
    async request(request) {
      const deadline = createDeadline(request);
      try {
        const { response, exchange } = await start(request, deadline);
        const body = await readBounded({ ...exchange, response, maxBytes: request.maxBytes, deadline });
        return { status: response.statusCode, headers: plainHeaders(response), body };
      } finally {
        deadline.clear();
      }
    },
    async download(request) {
      const deadline = createDeadline(request);
      try {
        const { response, exchange } = await start(request, deadline);
        deadline.stopClock();
        return downloadOf(response, { ...exchange, maxBytes: request.maxBytes, deadline });
      } catch (error) {
        deadline.clear();
        throw error;
      }
    },
    async close() {
      const opened = await agents.kept();
      await Promise.all([opened?.trusted.destroy(), opened?.guarded.destroy()]);
    },
  };
}

interface Agents {
  readonly trusted: OwnAgent;
  readonly guarded: OwnAgent;
}

/** One that notes of each exchange, its requests' `opaque`, when it is sent. */
interface OwnAgent {
  readonly request: Dispatcher['request'];
  readonly destroy: () => Promise<void>;
}

interface Parts {
  readonly agents: () => Promise<Agents>;
  readonly outbound: OutboundRule;
  readonly logger: Logger;
  readonly firstRetryMs: number;
  readonly origins: FailingOrigins;
}

/** One exchange: its origin, and whether bytes may have been sent. */
interface Exchange {
  readonly origin: string;
  sent: boolean;
}

interface Answer {
  readonly response: Dispatcher.ResponseData<unknown>;
  readonly exchange: Exchange;
}

/** undici is loaded at the first call: it is a hundred modules. */
async function createAgents(lookup?: LookupFunction): Promise<Agents> {
  const undici = await import('undici');
  const createAgent = (options: NonNullable<Agent.Options['connect']>): OwnAgent => {
    // HTTP/1.1 only: HTTP/2 shares a session, so "sent" would not be known per request.
    const agent = new undici.Agent({ allowH2: false, connections: CONNECTIONS_PER_ORIGIN, connect: options });
    const noting = agent.compose(noteSending);
    return { request: noting.request.bind(noting), destroy: () => agent.destroy() };
  };
  const connect = { timeout: CONNECT_TIMEOUT_MS };
  return {
    trusted: createAgent(connect),
    guarded: createAgent({ ...connect, lookup: publicLookup(lookup) }),
  };
}

async function withRetries(parts: Parts, request: HttpRequest, deadline: Deadline): Promise<Answer> {
  const retries = request.retry === 'safe' ? MAX_RETRIES : 0;
  const origin = URL.parse(request.url)?.origin ?? '';
  const isLast = (attempt: number): boolean => attempt >= retries || !parts.origins.mayRetry(origin);
  for (let attempt = 0; ; attempt++) {
    const backOffMs = parts.firstRetryMs * 2 ** attempt * (0.75 + Math.random() / 2);
    try {
      const answer = await followRedirects(parts, request, deadline);
      const { statusCode } = answer.response;
      parts.origins.note(origin, AWAY_STATUSES.has(statusCode) ? 'failed' : 'answered');
      if (isLast(attempt) || !RETRIED_STATUSES.has(statusCode)) return answer;
      const waitMs = retryAfterMs(answer.response) ?? backOffMs;
      if (waitMs >= deadline.remainingMs()) return answer;
      parts.logger.debug({ origin: answer.exchange.origin, status: statusCode }, 'retrying a call');
      await discard(answer, deadline);
      await waitFor(waitMs, deadline, answer.exchange);
    } catch (error) {
      const mayRetry = error instanceof HttpFailure && (error.code === 'CONNECT' || error.code === 'CUT');
      if (mayRetry) parts.origins.note(origin, 'failed');
      if (isLast(attempt) || !mayRetry || backOffMs >= deadline.remainingMs()) throw error;
      parts.logger.debug({ error }, 'retrying a call');
      await waitFor(backOffMs, deadline, { origin: 'the host', sent: error.sent });
    }
  }
}

async function waitFor(milliseconds: number, deadline: Deadline, exchange: Exchange): Promise<void> {
  try {
    await pause(milliseconds, undefined, { signal: deadline.signal });
  } catch (error) {
    throw failureOf(error, exchange, deadline);
  }
}

/** Retry-After in milliseconds: seconds or a date; undefined when absent or unreadable. */
function retryAfterMs(response: Dispatcher.ResponseData<unknown>): number | undefined {
  const text = String(response.headers['retry-after'] ?? '').trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1_000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

async function followRedirects(parts: Parts, request: HttpRequest, deadline: Deadline): Promise<Answer> {
  let { url, headers = {} } = request;
  for (let redirects = 0; ; redirects++) {
    const answer = await exchangeOnce(
      parts,
      { ...request, url, headers },
      { deadline, isRedirect: redirects > 0 },
    );
    const next = request.method === 'GET' ? redirectOf({ response: answer.response, url, headers }) : null;
    // Beyond the limit the redirect itself is the response: a 3xx, which is not a success.
    if (next === null || redirects === MAX_REDIRECTS) return answer;
    await discard(answer, deadline);
    ({ url, headers } = next);
  }
}

/** Reads an unwanted body to its end, or aborts a long one, so that its connection is free again. */
async function discard({ response, exchange }: Answer, deadline: Deadline): Promise<void> {
  try {
    await response.body.dump();
  } catch (error) {
    throw failureOf(error, exchange, deadline);
  }
}

async function exchangeOnce(
  { agents, outbound }: Parts,
  request: HttpRequest,
  { deadline, isRedirect }: { deadline: Deadline; isRedirect: boolean },
): Promise<Answer> {
  const { url, guarded } = admitted(outbound, request, isRedirect);
  const exchange: Exchange = { origin: url.origin, sent: isRedirect };
  const { guarded: publicOnly, trusted } = await agents();
  const agent = guarded ? publicOnly : trusted;
  try {
    const sending = agent.request({
      opaque: exchange,
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: request.method,
      headers: { 'user-agent': 'Kiln', ...request.headers },
      body: bodyOf(request),
      signal: deadline.signal,
      headersTimeout: 0,
      bodyTimeout: request.timeoutMs,
    });
    return { response: await unlessAborted(sending, deadline.signal), exchange };
  } catch (error) {
    throw failureOf(error, exchange, deadline);
  }
}

/** undici sees an abort only once it has a connection; a caller must not wait for that. Nothing is sent afterwards. */
async function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const aborted = Promise.withResolvers<never>();
  const giveUp = () => aborted.reject(signal.reason);
  if (signal.aborted) giveUp();
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    return await Promise.race([aborted.promise, work]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

/** A redirect to a refused address is refused too, but the first host has seen the request. */
function admitted(outbound: OutboundRule, request: HttpRequest, isRedirect: boolean) {
  try {
    return outbound.admit(request.url, request.trustedOrigins);
  } catch (error) {
    if (!isRedirect || !(error instanceof HttpFailure)) throw error;
    throw new HttpFailure(error.code, `redirected: ${error.message}`, { sent: true, cause: error });
  }
}

/** undici calls onRequestStart just before the first byte goes into the socket. */
const noteSending: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const { opaque: exchange } = options as { readonly opaque?: Exchange };
  const start = handler.onRequestStart?.bind(handler);
  handler.onRequestStart = (controller, context) => {
    start?.(controller, context);
    // A call that was aborted in the queue ends inside `start`, with nothing written.
    if (exchange !== undefined) exchange.sent ||= !controller.aborted;
  };
  return dispatch(options, handler);
};

function bodyOf({ body }: HttpRequest): string | Uint8Array | Readable | null {
  if (body === undefined) return null;
  return typeof body === 'function' ? Readable.from(body(), { objectMode: false }) : body;
}

function plainHeaders({ headers }: Dispatcher.ResponseData<unknown>): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) plain[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return plain;
}

function downloadOf(
  response: Dispatcher.ResponseData<unknown>,
  options: Exchange & { maxBytes: number; deadline: Deadline },
): HttpDownload {
  const body = boundedBody({ ...options, response });
  return { status: response.statusCode, headers: plainHeaders(response), body };
}
