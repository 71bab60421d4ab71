import type { IncomingMessage, ServerResponse } from 'node:http';

import { guardUnreadBody } from '../../platform/graphql/uploads/uploads.ts';
import { readFacts, whenClosed } from '../../platform/http/server.ts';
import type { Metrics } from '../../platform/metrics/metrics.ts';
import type { Logger } from '../../platform/process/logger.ts';
import { runInSpan, type Tracer } from '../../platform/tracing/span.ts';
import { requireContext, hasContext, readTraceId } from './request-context.ts';

/** Ids, which open what they name: they stay out of the log. */
const IDS =
  /[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}|\b(?:usr|key|ses)_[\w-]+|(?<=\/files\/)[\w-]{70}(?=\/)/gi;

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
export interface RequestObservers {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
}

/** Runs a request under observation. */
export type ObserveRequest = (request: IncomingMessage, response: ServerResponse, run: () => void) => void;

/** Sets the trace id, measures, traces and logs requests, and guards against unread bodies. */
export function createRequestObserver({ logger, metrics, tracer }: RequestObservers): ObserveRequest {
  const observe = metrics.histogram(
    'kiln_http_request_seconds',
    'HTTP requests, to the end of their response.',
    ['method', 'route', 'status'],
  );
  return (request, response, run) => {
    const startedAt = performance.now();
    const { url = '/', method: verb = 'GET' } = request;
    const traceId = readTraceId(request);
    const traceparent = request.headers['traceparent'];
    const span = tracer.start(verb, { kind: 'server', traceparent: readText(traceparent), traceId });
    response.setHeader('X-Trace-Id', traceId);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    guardUnreadBody(request, response);
    whenClosed(response, () => {
      const ms = Math.round(performance.now() - startedAt);
      // Express strips mount paths from the request's own; query strings are left out, as they may contain secrets.
      const path = url.split('?', 1)[0]?.replace(IDS, ':id');
      const line = { traceId, method: verb, path, status: response.statusCode, ms };
      const { route, changes } = readFacts(response);
      const method = METHODS.has(verb) ? verb : 'other';
      const served = route ?? servedBy(path);
      observe({ method, route: served, status: String(response.statusCode) }, ms / 1000);
      span?.rename(`${method} ${served}`);
      span?.set({ 'http.route': served, 'http.response.status_code': response.statusCode });
      span?.end();
      if (response.statusCode >= 500) logger.warn(line, 'request');
      else if (isChange(request, route, changes)) {
        logger.info({ ...line, caller: findCallerId(request), ...(changes && { changes }) }, 'request');
      } else logger.debug(line, 'request');
    });
    runInSpan(span, run);
  };
}

function readText(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.join(', ');
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

function servedBy(path = ''): string {
  const name = path.split('/', 2)[1] ?? '';
  return SERVED.has(name) ? `/${name}` : 'other';
}

/** Mutations, and what documented REST paths take by other methods than GET. */
function isChange(
  { method }: IncomingMessage,
  route: string | undefined,
  changes?: readonly string[],
): boolean {
  return changes !== undefined || (route !== undefined && method !== 'GET' && method !== 'HEAD');
}

/** Who sent it; null for requests that were refused before that was known. */
function findCallerId(request: IncomingMessage): string | null {
  return hasContext(request) ? requireContext(request).caller.id : null;
}
