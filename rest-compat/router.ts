import type { IncomingMessage, ServerResponse } from 'node:http';

import { Router } from 'express';

import type { Caller } from '../platform/caller.ts';
import { AppError } from '../platform/errors.ts';
import type { GraphqlExecutor, RequestContext } from '../platform/graphql/executor.ts';
import type { Logger } from '../platform/logger.ts';
import type { AuthMode } from '../platform/policy.ts';
import { drain } from './body/drain.ts';
import { HungUp } from './body/failures.ts';
import { docsPage } from './docs-page.ts';
import { createMatcher } from './match.ts';
import { buildOpenApi } from './openapi.ts';
import { failure } from './replies/envelope.ts';
import { failureAnswer } from './replies/failures.ts';
import type { RateClass, RestSettings, Route, Section } from './route.ts';
import { runRoute } from './run-route.ts';
import type { RestAnswer } from './run-route.ts';
import { sections as allSections } from './tables.ts';

/** What is left to a caller, and whether this request goes through. */
interface RestRateVerdict {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** When the count starts anew, in epoch seconds. */
  readonly resetSeconds: number;
  /** Seconds to wait when not allowed. */
  readonly retryAfter: number;
}

export interface RestRouterDeps {
  readonly executor: GraphqlExecutor;
  /** The caller of a request, and a signal that is aborted when it hangs up; made at the door. */
  readonly contextFor: (request: IncomingMessage) => RequestContext;
  /** Absent: no limits, and no headers that tell them. */
  readonly rateLimiter?: {
    take(caller: Caller, rateClass: RateClass): Promise<RestRateVerdict> | RestRateVerdict;
  };
  readonly settings: RestRouterSettings;
  readonly logger: Logger;
  /** The tables to serve; all of them when absent. */
  readonly sections?: readonly Section[];
}

export interface RestRouterSettings extends RestSettings {
  /** The setting REST_AUTH; only for routes that tighten the rule of their document, or have none. */
  readonly authMode: AuthMode;
  /** When deprecated operations will go, for the Sunset header; absent: not decided. */
  readonly sunset?: Date;
}

/** Since when the deprecated operations are (RFC 9745): the version 1.0.6 of the interface description. */
const deprecatedSince = '@1735689600';

/** The documented paths of the media service as one Express router. What it does not know it passes on. */
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
  readonly context: RequestContext;
}

function createHandler(deps: RestRouterDeps, sections: readonly Section[]): Handler {
  const match = createMatcher(sections.flatMap(({ routes }) => routes));
  const pages = createPages(deps.settings, sections);
  return async (request, response) => {
    const { path, query } = splitUrl(request.url ?? '/');
    const page = pages.get(path);
    const matched = page === undefined ? match(request.method ?? 'GET', path) : null;
    if (page === undefined && matched === null) return false;
    const exchange = { request, response, context: deps.contextFor(request) };
    try {
      const rateClass = matched !== null && 'route' in matched ? matched.route.rateClass : 'read';
      await countRequest(deps, exchange, rateClass);
      if (page !== undefined) sendPage(exchange, page);
      else if (matched !== null && 'allow' in matched) refuseMethod(exchange, matched.allow);
      else if (matched !== null) {
        markDeprecated(response, matched.route, deps.settings);
        send(exchange, await runRoute(deps, { ...exchange, ...matched, query }));
      }
    } catch (error) {
      answerFailure(deps, exchange, error);
    }
    return true;
  };
}

function splitUrl(url: string): { readonly path: string; readonly query: URLSearchParams } {
  const mark = url.indexOf('?');
  if (mark === -1) return { path: url, query: new URLSearchParams() };
  return { path: url.slice(0, mark), query: new URLSearchParams(url.slice(mark + 1)) };
}

async function countRequest(deps: RestRouterDeps, { response, context }: Exchange, rateClass: RateClass) {
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
  const body = { ...failure(`this path takes ${allow.join(', ')}`), detail: 'Method Not Allowed' };
  send(exchange, { status: 405, body });
}

function answerFailure(deps: RestRouterDeps, exchange: Exchange, error: unknown): void {
  const { response, context } = exchange;
  // Nobody is left to answer.
  if (error instanceof HungUp || response.destroyed || context.signal.aborted) return;
  const { status, msg, headers, unexpected } = failureAnswer(error, context.caller.traceId);
  if (unexpected) deps.logger.error({ error, traceId: context.caller.traceId }, 'a REST request failed');
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  send(exchange, { status, body: failure(msg) });
}

function send({ request, response, context }: Exchange, { status, body }: RestAnswer): void {
  if (response.headersSent || response.destroyed) return;
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'X-Trace-Id': context.caller.traceId,
  });
  // As text: Node sends that in one piece with the head.
  response.end(text);
  drain(request);
}

interface Page {
  readonly contentType: string;
  readonly bytes: Buffer;
}

/** The OpenAPI document and its readable form, made once. */
function createPages(settings: RestRouterSettings, sections: readonly Section[]): ReadonlyMap<string, Page> {
  const media = { ...buildOpenApi('media', sections), servers: [{ url: settings.publicUrl }] };
  return new Map([
    [
      '/openapi.json',
      { contentType: 'application/json; charset=utf-8', bytes: Buffer.from(JSON.stringify(media)) },
    ],
    [
      '/docs',
      { contentType: 'text/html; charset=utf-8', bytes: Buffer.from(docsPage(media, 'openapi.json')) },
    ],
  ]);
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
    'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'",
  });
  response.end(bytes);
}
