import type { ErrorRequestHandler, NextFunction, Request, RequestHandler, Response } from 'express';

import { AppError, toError } from '../../platform/errors.ts';
import { guardUnreadBody } from '../../platform/graphql/uploads/uploads.ts';
import { factsOf } from '../../platform/http/request-facts.ts';
import type { Metrics } from '../../platform/metrics/metrics.ts';
import type { Logger } from '../../platform/process/logger.ts';
import { runInSpan } from '../../platform/tracing/span.ts';
import type { Tracer } from '../../platform/tracing/tracer.ts';
import type { ResponseStyle } from '../../rest-compat/replies/response-style.ts';
import { responseStyleAt } from '../../rest-compat/response-styles.ts';
import { prefersHtml } from '../request/prefers-html.ts';
import { contextOf, hasContext, traceIdOf } from '../request/request-context.ts';
import { messagePage } from './message-page.ts';

/** Middleware around the handlers: tracing, mounting, errors. */

/** A handler to mount: an Express router or handler, or a plain Node one. */
export type Handler = (request: Request, response: Response, next: NextFunction) => unknown;

/** Ids, which open what they name: they stay out of the log. */
const IDS = /[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}|\b(?:usr|key|ses)_[\w-]+/gi;

/** First segments of paths that are served; the documented REST paths have their templates. */
const SERVED = new Set([
  'graphql',
  'files',
  'hooks',
  'console',
  'explorer',
  'sandbox',
  'docs',
  'healthz',
  'readyz',
  'metrics',
]);

/** What follows requests. */
interface RequestObservers {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
}

/** Sets the trace id, measures, traces and logs the request, and guards against unread bodies. */
export function traceRequests({ logger, metrics, tracer }: RequestObservers): RequestHandler {
  const observe = metrics.histogram(
    'kiln_http_request_seconds',
    'HTTP requests, to the end of their response.',
    ['method', 'route', 'status'],
  );
  return (request, response, next) => {
    const traceId = traceIdOf(request);
    const startedAt = performance.now();
    const span = tracer.start(request.method, {
      kind: 'server',
      traceparent: request.get('traceparent'),
      traceId,
    });
    response.setHeader('X-Trace-Id', traceId);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    guardUnreadBody(request, response);
    // Express strips mount paths from `url`; query strings are left out, as they may contain secrets.
    const path = request.originalUrl.split('?', 1)[0]?.replace(IDS, ':id');
    response.once('close', () => {
      const ms = Math.round(performance.now() - startedAt);
      const line = { traceId, method: request.method, path, status: response.statusCode, ms };
      const { route, changes } = factsOf(response);
      const method = METHODS.has(request.method) ? request.method : 'other';
      const served = route ?? servedBy(path);
      observe({ method, route: served, status: String(response.statusCode) }, ms / 1000);
      span?.rename(`${method} ${served}`);
      span?.set({ 'http.route': served, 'http.response.status_code': response.statusCode });
      span?.end();
      if (response.statusCode >= 500) logger.warn(line, 'request');
      else if (isChange(request, route, changes)) {
        logger.info({ ...line, caller: callerOf(request), ...(changes && { changes }) }, 'request');
      } else logger.debug(line, 'request');
    });
    runInSpan(span, next);
  };
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

function servedBy(path = ''): string {
  const name = path.split('/', 2)[1] ?? '';
  return SERVED.has(name) ? `/${name}` : 'other';
}

/** Mutations, and what documented REST paths take by other methods than GET. */
function isChange({ method }: Request, route: string | undefined, changes?: readonly string[]): boolean {
  return changes !== undefined || (route !== undefined && method !== 'GET' && method !== 'HEAD');
}

/** Who sent it; null for requests that were refused before that was known. */
function callerOf(request: Request): string | null {
  return hasContext(request) ? contextOf(request).caller.id : null;
}

/** Tells browsers to use https alone for a year, where PUBLIC_URL does. */
export function requireHttps(publicUrl: string | null): RequestHandler {
  const isHttps = publicUrl !== null && publicUrl.startsWith('https:');
  return (_request, response, next) => {
    if (isHttps) response.setHeader('Strict-Transport-Security', 'max-age=31536000');
    next();
  };
}

/** Mounts a handler below a path without stripping it from `request.url`. */
export function mountBelow(folder: string, handler: Handler): RequestHandler {
  return async (request, response, next) => {
    if (request.path !== folder && !request.path.startsWith(`${folder}/`)) return next();
    await handler(request, response, next);
  };
}

/** Responds 404 where no handler serves the path. */
export function answerNotFound(basePath: string): RequestHandler {
  return (request, response) => {
    if (request.method === 'GET' && prefersHtml(request.headers.accept)) {
      return sendNotFoundPage(request, response, basePath);
    }
    const message = `no such path: ${request.path.slice(0, 200)}`;
    refuse(request, response, { basePath, status: 404, message, detail: 'Not Found' });
  };
}

/** Browsers get a page with the way to the console; the path is escaped. */
function sendNotFoundPage(request: Request, response: Response, basePath: string): void {
  const page = messagePage({
    title: 'There is nothing at this address',
    text: request.path.slice(0, 200),
    link: { href: `${basePath}/console/`, label: 'Open the console' },
  });
  response.status(404).set('Cache-Control', 'no-store');
  response.vary('Accept').set('Content-Security-Policy', page.contentSecurityPolicy);
  response.type('html').send(page.html);
}

/** Responds to errors of handlers, in the envelope of the documented REST paths. */
export function answerError(logger: Logger, basePath: string): ErrorRequestHandler {
  return (thrown: unknown, request, response, next) => {
    if (response.headersSent) return next(thrown);
    const error = toError(thrown);
    if (error instanceof AppError) {
      // An invalid credential, or one that can't be looked up now.
      const answer = responseStyleOf(request, basePath).failure(error, {
        traceId: traceIdOf(request),
        ignored: [],
      });
      if (answer.unexpected) logger.error({ traceId: traceIdOf(request), error }, 'a request failed');
      return send(response.set(answer.headers), answer);
    }
    const status =
      'status' in error && typeof error.status === 'number' && error.status < 500 ? error.status : 500;
    const traceId = traceIdOf(request);
    if (status === 500) logger.error({ traceId, error }, 'a request failed');
    const message = status === 500 ? `internal error, trace id ${traceId}` : error.message;
    refuse(request, response, { basePath, status, message });
  };
}

interface Refused {
  readonly basePath: string;
  readonly status: number;
  readonly message: string;
  readonly detail?: string;
}

/** Responds in the envelope of the path's service. */
function refuse(request: Request, response: Response, { basePath, ...refused }: Refused): void {
  const body = responseStyleOf(request, basePath).refusal({ ...refused, traceId: traceIdOf(request) });
  send(response, { status: refused.status, body });
}

function responseStyleOf({ originalUrl }: Request, basePath: string): ResponseStyle {
  const path = originalUrl.split('?', 1)[0] ?? '/';
  return responseStyleAt(path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path);
}

function send(
  response: Response,
  { status, body }: { readonly status: number; readonly body: object },
): void {
  response.status(status).set('Cache-Control', 'no-store').json(body);
}
