import type { LookupFunction } from 'node:net';

import type { Dispatcher } from 'undici';

import type { Logger } from '../process/logger.ts';
import { boundedBody, readBounded } from './body.ts';
import { createDeadline, type Deadline } from './deadline.ts';
import { createExchanger, type Exchange } from './exchange.ts';
import type { HttpClient, HttpDownload } from './http-client.ts';
import { followRedirects } from './redirects.ts';
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
