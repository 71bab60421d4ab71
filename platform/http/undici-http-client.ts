import type { LookupFunction } from 'node:net';

import type { Dispatcher } from 'undici';

import type { Logger } from '../process/logger.ts';
import { boundedBody, readBounded } from './body.ts';
import { createDeadline, type Deadline } from './deadline.ts';
import { type Answer, createExchanger, discard, type Exchange, type Exchanger } from './exchange.ts';
import type { HttpClient, HttpDownload, HttpRequest } from './http-client.ts';
import { withRetries } from './retries.ts';
import type { OutboundRule } from './safe-url.ts';

export interface HttpClientOptions {
  readonly outbound: OutboundRule;
  readonly logger: Logger;
  /** Name resolution for addresses that must be public (default: the system's). */
  readonly lookup?: LookupFunction;
  /** About the pause before the first retry of a safe call in milliseconds (default 300); doubles each time. */
  readonly firstRetryMs?: number;
}

const FIRST_RETRY_MS = 300;
const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Headers that are sent on to another origin. Any other one could be a credential. */
const HARMLESS = new Set(['accept', 'accept-language', 'range', 'user-agent']);

/** Makes the outbound HTTP client of a process, on undici: retries around redirects around single exchanges. */
export function createHttpClient({
  outbound,
  logger,
  lookup,
  firstRetryMs = FIRST_RETRY_MS,
}: HttpClientOptions): HttpClient {
  const exchanger = createExchanger(outbound, lookup);
  const start = withRetries((request, deadline) => followRedirects(exchanger, request, deadline), {
    logger,
    firstRetryMs,
  });
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
        return createDownload(response, { ...exchange, maxBytes: request.maxBytes, deadline });
      } catch (error) {
        deadline.clear();
        throw error;
      }
    },
    close: () => exchanger.close(),
  };
}

/** Sends a request, and follows the redirects of a GET; beyond the limit the redirect itself is the answer. */
async function followRedirects(
  exchanger: Exchanger,
  request: HttpRequest,
  deadline: Deadline,
): Promise<Answer> {
  let { url, headers = {} } = request;
  for (let redirects = 0; ; redirects++) {
    const answer = await exchanger.send({ ...request, url, headers }, deadline, redirects > 0);
    const next = request.method === 'GET' ? nextAddress(answer, url, headers) : null;
    if (next === null || redirects === MAX_REDIRECTS) return answer;
    await discard(answer, deadline);
    ({ url, headers } = next);
  }
}

/** The next URL and headers of a GET, or null when the response is no redirect. */
function nextAddress(
  { response }: Answer,
  url: string,
  headers: Readonly<Record<string, string>>,
): { readonly url: string; readonly headers: Readonly<Record<string, string>> } | null {
  const location = response.headers['location'];
  if (!REDIRECTS.has(response.statusCode) || typeof location !== 'string') return null;
  const next = URL.parse(location, url);
  if (next === null) return null;
  if (next.origin === new URL(url).origin) return { url: next.href, headers };
  const harmless = Object.entries(headers).filter(([name]) => HARMLESS.has(name.toLowerCase()));
  return { url: next.href, headers: Object.fromEntries(harmless) };
}

function plainHeaders({ headers }: Dispatcher.ResponseData<unknown>): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) plain[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return plain;
}

function createDownload(
  response: Dispatcher.ResponseData<unknown>,
  options: Exchange & { maxBytes: number; deadline: Deadline },
): HttpDownload {
  const body = boundedBody({ ...options, response });
  return { status: response.statusCode, headers: plainHeaders(response), body };
}
