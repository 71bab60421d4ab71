import type { IncomingMessage, ServerResponse } from 'node:http';

import { createMcpHandler, type McpHttpHandler, type Server } from '@modelcontextprotocol/server';

import { AppError, toError } from '../../../platform/errors.ts';
import { parseJson } from '../../../platform/json.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import {
  drain,
  ClientDisconnected,
  MalformedBody,
  readBytes,
} from '../../../rest-compat/request/body/body.ts';
import type { RateClass } from '../../../rest-compat/route/route.ts';
import type { RequestLimiter } from '../../shared/rate-limits.ts';
import { type Exchange, sendRpcError, sendWebResponse, webRequest } from './exchange.ts';
import { type Listen, readTaskIds } from './listen.ts';

/**
 * The HTTP side of the protocol: who may send, how much, how often; then the SDK, which knows both versions, their headers
 * and their errors. No request depends on an earlier one, and nothing is kept between them.
 */
export interface McpEndpointOptions {
  /** URL of the endpoint as clients type it. */
  readonly url: string;
  /** What serves one request. `isModern`: of the version of July 2026 or later. */
  readonly serverFor: (exchange: Exchange, isModern: boolean) => Server;
  /** What a request counts as, by its body. */
  readonly findRateClass: (message: unknown) => RateClass;
  /** Absent: no limits. */
  readonly rates?: RequestLimiter | undefined;
  readonly listen: Listen;
  /** Whether pages of an origin may send requests. */
  readonly allowsOrigin: (origin: string) => boolean;
  readonly logger: Logger;
}

/** The endpoint. */
export interface McpEndpoint {
  /** Serves one request. It rejects for mistakes of ours alone. */
  serve(exchange: Exchange): Promise<void>;
  /** Ends what is open. */
  close(): Promise<void>;
}

/** Largest request in bytes: prompts and addresses, never files. */
const MAX_BODY_BYTES = 1024 * 1024;
/** Errors of requests that are none of JSON-RPC: allocated outside what JSON-RPC and MCP reserve. */
const REFUSED = -31_000;

/** Makes the endpoint. */
export function createMcpEndpoint(options: McpEndpointOptions): McpEndpoint {
  const { serverFor, logger, allowsOrigin } = options;
  const sdk = createMcpHandler(
    ({ era, authInfo }) => serverFor(authInfo?.extra?.['exchange'] as Exchange, era === 'modern'),
    {
      maxRequestBodySize: MAX_BODY_BYTES,
      onerror: (error) => logger.debug({ error }, 'MCP: a request was refused or ended'),
    },
  );
  return {
    async serve(exchange) {
      const { request, response } = exchange;
      const { origin } = request.headers;
      if (origin !== undefined && !allowsOrigin(origin)) {
        const message = 'pages of this origin may not call here: see CORS_ORIGINS';
        return refuse(exchange, 403, { code: REFUSED, message });
      }
      if (request.method !== 'POST') {
        response.setHeader('Allow', 'POST');
        return refuse(exchange, 405, { code: REFUSED, message: 'this path takes POST' });
      }
      try {
        const body = await readBytes(request, MAX_BODY_BYTES);
        await answer(options, sdk, { ...exchange, body, message: parseJson(body.toString()) });
      } catch (error) {
        sendError(error, exchange, logger);
      }
    },
    close: () => sdk.close(),
  };
}

interface Read extends Exchange {
  readonly body: Buffer;
  /** Undefined where it is no JSON. */
  readonly message: unknown;
}

async function answer(options: McpEndpointOptions, sdk: McpHttpHandler, read: Read): Promise<void> {
  const { message, response, context } = read;
  await count(options, read);
  const exchange = { request: read.request, response, context };
  const request = webRequest(read.request, { url: options.url, body: read.body, signal: context.signal });
  const authInfo = { token: '', clientId: context.caller.id, scopes: [], extra: { exchange } };
  const answered = await sdk.fetch(request, {
    authInfo,
    ...(message === undefined ? {} : { parsedBody: message }),
  });
  const taskIds = readTaskIds(message);
  // The SDK has looked at version, headers and envelope, and knows no tasks: their stream is ours.
  if (taskIds !== null && isStream(answered)) {
    await answered.body?.cancel();
    return options.listen({ ...exchange, message, taskIds });
  }
  await sendWebResponse(answered, response);
}

function isStream(answered: Response): boolean {
  return answered.ok && answered.headers.get('content-type')?.startsWith('text/event-stream') === true;
}

/** Counts the request, or each one of a batch. Throws RATE_LIMITED. */
async function count(
  { rates, findRateClass }: McpEndpointOptions,
  { message, context }: Read,
): Promise<void> {
  const isBatch = Array.isArray(message) && message.length > 0;
  for (const one of isBatch ? message : [message]) {
    const result = await rates?.take(context.caller, findRateClass(one));
    if (result === undefined || result.allowed) continue;
    const { limit, retryAfter } = result;
    const text = `more than ${limit} requests a minute; try again in ${retryAfter} s`;
    throw new AppError('RATE_LIMITED', text, { retryAfter });
  }
}

/** HTTP statuses of what is refused before the protocol; anything else is ours. */
const STATUSES: Readonly<Record<string, number>> = { RATE_LIMITED: 429, PAYLOAD_TOO_LARGE: 413 };

function sendError(thrown: unknown, exchange: Exchange, logger: Logger): void {
  const { request, response, context } = exchange;
  if (thrown instanceof ClientDisconnected || response.destroyed || context.signal.aborted) return;
  if (thrown instanceof MalformedBody)
    return refuse(exchange, 415, { code: REFUSED, message: thrown.message });
  const status = thrown instanceof AppError ? STATUSES[thrown.code] : undefined;
  if (thrown instanceof AppError && status !== undefined) {
    if (thrown.retryAfter !== undefined) response.setHeader('Retry-After', String(thrown.retryAfter));
    return refuse(exchange, status, { code: REFUSED, message: thrown.message, data: { code: thrown.code } });
  }
  const { traceId } = context.caller;
  logger.error({ traceId, error: toError(thrown), url: request.url }, 'an MCP request failed');
  refuse(exchange, 500, { code: -32_603, message: `internal error, trace id ${traceId}` });
}

function refuse(
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  status: number,
  error: { readonly code: number; readonly message: string; readonly data?: unknown },
): void {
  sendRpcError(response, status, error);
  drain(request);
}
