import type { IncomingMessage, ServerResponse } from 'node:http';

import { AppError } from '../platform/errors.ts';
import type { RequestContext } from '../platform/graphql/operations/executor.ts';
import type { Logger } from '../platform/process/logger.ts';
import { pagePolicy, type Page } from './docs/served-pages.ts';
import type { ResponseStyle } from './replies/response-style.ts';
import { drain, ClientDisconnected } from './request/body/body.ts';
import type { Route } from './route/route.ts';
import type { RestResponse } from './run-route.ts';

/** A request, its response, and how to fill that. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly style: ResponseStyle;
  readonly context: RequestContext;
  /** Names of what was sent and the operation does not read: filled while the request is read, told by every response. */
  readonly ignored: string[];
}

const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Sends a JSON body or a page, and discards what is left of the request's. */
export function send(
  { request, response, context, ignored }: Exchange,
  { status, headers, body, page, pageType = 'text/html' }: RestResponse,
): void {
  if (response.headersSent || response.destroyed) return;
  const text = page ?? JSON.stringify(body);
  response.writeHead(status, {
    ...(page === undefined
      ? { 'Content-Type': 'application/json; charset=utf-8' }
      : { 'Content-Type': `${pageType}; charset=utf-8`, 'Content-Security-Policy': PAGE_POLICY }),
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'X-Trace-Id': context.caller.traceId,
    ...ignoredHeader(ignored),
    ...headers,
  });
  // As a string: Node then sends head and body in one write.
  response.end(text);
  drain(request);
}

/** The fields that were not read, for programs: the message of the workflow service is documented. */
function ignoredHeader(ignored: readonly string[]): Readonly<Record<string, string>> {
  if (ignored.length === 0) return {};
  return { 'X-Ignored-Fields': ignored.map((name) => encodeURIComponent(name.toWellFormed())).join(', ') };
}

/** Sends 405 with the methods that the path has. */
export function refuseMethod(exchange: Exchange, allow: readonly string[]): void {
  exchange.response.setHeader('Allow', allow.join(', '));
  const status = 405;
  const message = `this path takes ${allow.join(', ')}`;
  const { traceId } = exchange.context.caller;
  const body = exchange.style.refusal({ status, message, detail: 'Method Not Allowed', traceId });
  send(exchange, { status, body });
}

/** Sends the response to whatever was thrown; what nobody foresaw is logged. */
export function sendFailure(
  exchange: Exchange,
  error: unknown,
  { logger, route }: { readonly logger: Logger; readonly route: Route | undefined },
): void {
  const { request, response, context, style, ignored } = exchange;
  if (error instanceof ClientDisconnected || response.destroyed || context.signal.aborted) return;
  const { traceId } = context.caller;
  const { unexpected, ...failure } = style.failure(error, { traceId, ignored });
  if (unexpected) logger.error({ error, traceId }, 'a REST request failed');
  const message = error instanceof AppError && !unexpected ? error.message : 'something went wrong here';
  const page = route?.failurePage?.(message, request) ?? null;
  send(exchange, page === null ? failure : { ...failure, page });
}

/** Sends a page or an OpenAPI document. */
export function sendPage(exchange: Exchange, { contentType, bytes }: Page): void {
  const { request, response } = exchange;
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    refuseMethod(exchange, ['GET', 'HEAD']);
    return;
  }
  response.writeHead(200, {
    'Content-Type': contentType,
    'Content-Length': bytes.length,
    'Content-Security-Policy': pagePolicy,
  });
  response.end(bytes);
}
