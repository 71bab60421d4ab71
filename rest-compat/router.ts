import type { IncomingMessage, ServerResponse } from 'node:http';

import { Router } from 'express';

import type { Caller } from '../platform/access/caller.ts';
import type { AuthMode } from '../platform/access/policy.ts';
import { AppError } from '../platform/errors.ts';
import type { GraphqlExecutor, RequestContext } from '../platform/graphql/operations/executor.ts';
import type { Logger } from '../platform/process/logger.ts';
import { docsPage } from './docs/page.ts';
import { buildOpenApi } from './openapi/openapi.ts';
import { responseStyleOf, type ResponseStyle } from './replies/response-style.ts';
import { drain } from './request/body/drain.ts';
import { ClientDisconnected } from './request/body/failures.ts';
import { createMatcher } from './route/match.ts';
import type { RateClass, RestSettings, Route, Section } from './route/route.ts';
import { runRoute, type RestResponse } from './run-route.ts';
import { sections as allSections } from './tables.ts';

/** What is left to a caller, and whether this request goes through. */
interface RateLimitResult {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** When the count starts anew, in epoch seconds. */
  readonly resetSeconds: number;
  /** Seconds to wait when not allowed. */
  readonly retryAfter: number;
}

/** What the REST layer is built on. */
export interface RestRouterDeps {
  readonly executor: GraphqlExecutor;
  /** The caller of a request, and a signal that is aborted when it hangs up; made at the door. */
  readonly contextFor: (request: IncomingMessage) => RequestContext;
  /** Absent: no limits, and no headers that tell them. */
  readonly rateLimiter?: {
    take(caller: Caller, rateClass: RateClass): Promise<RateLimitResult> | RateLimitResult;
  };
  readonly settings: RestRouterSettings;
  readonly logger: Logger;
  /** The tables to serve; all of them when absent. */
  readonly sections?: readonly Section[];
}

/** The settings of the whole layer. */
export interface RestRouterSettings extends RestSettings {
  /** The setting REST_AUTH; only for routes that tighten the rule of their document, or have none. */
  readonly authMode: AuthMode;
  /** When deprecated operations will go, for the Sunset header; absent: not decided. */
  readonly sunset?: Date;
}

const mediaStyle = responseStyleOf({ service: 'media' });

/** Since when the deprecated operations are (RFC 9745): the version 1.0.6 of the interface description. */
const deprecatedSince = '@1735689600';

/** The documented paths of both services as one Express router. What it does not know it passes on. */
export function createRestRouter(deps: RestRouterDeps): Router {
  const sections = deps.sections ?? allSections;
  const handle = createHandler(deps, sections);
  const router = Router();
  router.use((request, response, next) => {
    handle(request, response).then((isOurs) => {
      if (!isOurs) next();
    }, next);
  });
  return router;
}

/** Handles one request; false when the path is not one of ours. Never throws for what a caller can cause. */
type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<boolean>;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly style: ResponseStyle;
  readonly context: RequestContext;
}

function createHandler(deps: RestRouterDeps, sections: readonly Section[]): Handler {
  const match = createMatcher(sections.flatMap(({ routes }) => routes));
  const styles = new Map(
    sections.flatMap((section) => section.routes.map((route) => [route, responseStyleOf(section)] as const)),
  );
  const pages = createPages(deps.settings, sections);
  return async (request, response) => {
    const { path, query, rawQuery } = splitUrl(request.url ?? '/');
    const page = pages.get(path);
    const matched = page === undefined ? match(request.method ?? 'GET', path) : null;
    if (page === undefined && matched === null) return false;
    const known = matched === null ? undefined : 'route' in matched ? matched.route : matched.sibling;
    const style = (known && styles.get(known)) ?? mediaStyle;
    const exchange = { request, response, style, context: deps.contextFor(request) };
    try {
      const rateClass = matched !== null && 'route' in matched ? matched.route.rateClass : 'read';
      await applyRateLimit(deps, exchange, rateClass);
      if (page !== undefined) sendPage(exchange, page);
      else if (matched !== null && 'allow' in matched) refuseMethod(exchange, matched.allow);
      else if (matched !== null) {
        markDeprecated(response, matched.route, deps.settings);
        response.setHeaders(new Map(Object.entries(matched.route.headers ?? {})));
        send(exchange, await runRoute(deps, { ...exchange, ...matched, query, rawQuery }));
      }
    } catch (error) {
      sendFailure(deps, exchange, error);
    }
    return true;
  };
}

function splitUrl(url: string) {
  const mark = url.indexOf('?');
  const path = mark === -1 ? url : url.slice(0, mark);
  const rawQuery = mark === -1 ? '' : url.slice(mark + 1);
  return { path, query: new URLSearchParams(rawQuery), rawQuery };
}

async function applyRateLimit(deps: RestRouterDeps, { response, context }: Exchange, rateClass: RateClass) {
  if (deps.rateLimiter === undefined) return;
  const verdict = await deps.rateLimiter.take(context.caller, rateClass);
  response.setHeader('X-RateLimit-Limit', String(verdict.limit));
  response.setHeader('X-RateLimit-Remaining', String(verdict.remaining));
  response.setHeader('X-RateLimit-Reset', String(verdict.resetSeconds));
  if (verdict.allowed) return;
  const msg = `more than ${verdict.limit} requests a minute; try again in ${verdict.retryAfter} s`;
  throw new AppError('RATE_LIMITED', msg, { retryAfter: verdict.retryAfter });
}

function markDeprecated(
  response: ServerResponse,
  route: Route,
  { sunset, publicUrl }: RestRouterSettings,
): void {
  if (route.deprecated !== true) return;
  response.setHeader('Deprecation', deprecatedSince);
  response.setHeader('Link', `<${publicUrl}/docs>; rel="deprecation"; type="text/html"`);
  if (sunset !== undefined) response.setHeader('Sunset', sunset.toUTCString());
}

function refuseMethod(exchange: Exchange, allow: readonly string[]): void {
  exchange.response.setHeader('Allow', allow.join(', '));
  const status = 405;
  const message = `this path takes ${allow.join(', ')}`;
  const { traceId } = exchange.context.caller;
  const body = exchange.style.refusal({ status, message, detail: 'Method Not Allowed', traceId });
  send(exchange, { status, body });
}

function sendFailure(deps: RestRouterDeps, exchange: Exchange, error: unknown): void {
  const { response, context, style } = exchange;
  // Nobody is left to answer.
  if (error instanceof ClientDisconnected || response.destroyed || context.signal.aborted) return;
  const { status, body, headers, unexpected } = style.failure(error, context.caller.traceId);
  if (unexpected) deps.logger.error({ error, traceId: context.caller.traceId }, 'a REST request failed');
  send(exchange, { status, body, headers });
}

function send({ request, response, context }: Exchange, { status, headers, body }: RestResponse): void {
  if (response.headersSent || response.destroyed) return;
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'X-Trace-Id': context.caller.traceId,
    ...headers,
  });
  // As text: Node sends that in one piece with the head.
  response.end(text);
  drain(request);
}

interface Page {
  readonly contentType: string;
  readonly bytes: Buffer;
}

/** Where a service's OpenAPI document is, and its readable form; links lead from this to that, and to the other one's. */
const servedDocuments = [
  {
    service: 'media',
    document: '/openapi.json',
    page: '/docs',
    links: {
      document: 'openapi.json',
      other: { service: 'workflow', href: 'docs/workflow', text: 'Payments and templates' },
    },
  },
  {
    service: 'workflow',
    document: '/openapi-workflow.json',
    page: '/docs/workflow',
    links: {
      document: '../openapi-workflow.json',
      other: { service: 'media', href: '../docs', text: 'Media' },
    },
  },
] as const;

/** The OpenAPI documents and their readable forms, made once. */
function createPages(settings: RestRouterSettings, sections: readonly Section[]): ReadonlyMap<string, Page> {
  const { publicUrl } = settings;
  const served = servedDocuments.filter(({ service }) =>
    sections.some((section) => section.service === service),
  );
  return new Map(
    served.flatMap(({ service, document, page, links }) => {
      const described = { ...buildOpenApi(service, sections), servers: [{ url: publicUrl }] };
      const json = pageOf('application/json', JSON.stringify(described));
      const html = docsPage({ document: described, links, baseUrl: publicUrl });
      return [[document, json] as const, [page, pageOf('text/html', html)] as const];
    }),
  );
}

function pageOf(type: string, content: string): Page {
  return { contentType: `${type}; charset=utf-8`, bytes: Buffer.from(content) };
}

function sendPage(exchange: Exchange, { contentType, bytes }: Page): void {
  const { request, response } = exchange;
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    refuseMethod(exchange, ['GET', 'HEAD']);
    return;
  }
  response.writeHead(200, {
    'Content-Type': contentType,
    'Content-Length': bytes.length,
    'Content-Security-Policy':
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  });
  response.end(bytes);
}
