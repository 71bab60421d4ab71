import type { IncomingMessage, ServerResponse } from 'node:http';

import { Router } from 'express';

import { isMalformedBearer, MALFORMED_BEARER } from '../platform/access/bearer.ts';
import type { Caller } from '../platform/access/caller.ts';
import type { AuthMode } from '../platform/access/policy.ts';
import { AppError, type AppErrorCode } from '../platform/errors.ts';
import type { GraphqlExecutor, RequestContext } from '../platform/graphql/operations/executor.ts';
import { noteRequest } from '../platform/http/server.ts';
import type { Logger } from '../platform/process/logger.ts';
import { createPages, type Page } from './docs/served-pages.ts';
import { ASKED_HEADER, type Fallback } from './fallback.ts';
import { findResponseStyle } from './replies/response-style.ts';
import { createMatcher, type Matcher } from './route/match.ts';
import { findRateClass, type RateClass, type RestSettings, type Route, type Section } from './route/route.ts';
import { runRoute, type RestResponse, type RunRequest } from './run-route.ts';
import { type Exchange, refuseMethod, send, sendFailure, sendPage } from './send-response.ts';
import { sections as allSections } from './tables.ts';

/** The state of a caller's rate limit, and whether this request is allowed. */
interface RateLimitResult {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** When the count is reset, in epoch seconds. */
  readonly resetSeconds: number;
  /** Seconds to wait when not allowed. */
  readonly retryAfter: number;
}

/** What the router is built from. */
export interface RestRouterDeps {
  readonly executor: GraphqlExecutor;
  /** The caller of a request, and a signal that is aborted when the caller disconnects. */
  readonly contextFor: (request: IncomingMessage) => RequestContext;
  /** Absent: no limits, and no headers about them. */
  readonly rateLimiter?: {
    take(caller: Caller, rateClass: RateClass): Promise<RateLimitResult> | RateLimitResult;
    /** Counts a start that was refused as a write instead. */
    refuseStart(caller: Caller): Promise<RateLimitResult> | RateLimitResult;
  };
  /** Root fields of mutations that start no work: such requests are counted as writes. */
  readonly writes?: readonly string[];
  /** Root fields of mutations that take or give credentials: such requests are counted as sign-ins. */
  readonly signIns?: readonly string[];
  readonly settings: RestRouterSettings;
  /** Aborted when synchronous operations wait no longer, because the server stops (default: never). */
  readonly stopping?: AbortSignal | undefined;
  /** Asks existing services for what is not known here; absent: none is configured. */
  readonly fallback?: Fallback | undefined;
  readonly logger: Logger;
  /** The tables to serve; all of them when absent. */
  readonly sections?: readonly Section[];
}

/** The settings of the REST layer. */
export interface RestRouterSettings extends RestSettings {
  /** The setting REST_AUTH; it matters for routes with a rule of their own. */
  readonly authMode: AuthMode;
}

const mediaStyle = findResponseStyle({ service: 'media' });

/** When the deprecated operations became so (RFC 9745): with version 1.0.6 of the interface description. */
const deprecatedSince = '@1735689600';

/** The documented paths of both services. */
export type RestHandler = ReturnType<typeof createRestHandler>;

/** The documented paths as an Express router. Unknown paths go to the next handler. */
export function restRouter(handler: RestHandler): Router {
  const router = Router();
  router.use((request, response, next) => {
    const serve = handler.find(request);
    if (serve === null) next();
    else serve(response).catch(next);
  });
  return router;
}

/** Makes the handler of the documented paths. */
export function createRestHandler(deps: RestRouterDeps) {
  const sections = deps.sections ?? allSections;
  const match = createMatcher(sections.flatMap(({ routes }) => routes));
  const styles = new Map(
    sections.flatMap((section) =>
      section.routes.map((route) => [route, findResponseStyle(section)] as const),
    ),
  );
  const pages = createPages(deps.settings.publicUrl, sections);
  return {
    /** What serves a request; null when its path is unknown. It rejects for mistakes of ours alone. */
    find(request: IncomingMessage): ((response: ServerResponse) => Promise<void>) | null {
      const { path, query, rawQuery } = splitUrl(request.url ?? '/');
      const page = pages.get(path);
      if (page !== undefined) return (response) => answerPage(deps, { request, response, page: page() });
      const matched = match(request.method ?? 'GET', path);
      if (matched === null) return null;
      const style = styles.get('route' in matched ? matched.route : matched.sibling) ?? mediaStyle;
      return (response) => answer(deps, { request, response, style, matched, query, rawQuery });
    },
  };
}

async function answerPage(
  deps: RestRouterDeps,
  { request, response, page }: Pick<Exchange, 'request' | 'response'> & { readonly page: Page },
): Promise<void> {
  const exchange = { request, response, style: mediaStyle, context: deps.contextFor(request), ignored: [] };
  try {
    await applyRateLimit(deps, exchange, (limiter, caller) => limiter.take(caller, 'read'));
    sendPage(exchange, page);
  } catch (thrown) {
    sendFailure(exchange, withHeaderHint(thrown, request), { logger: deps.logger, route: undefined });
  }
}

interface MatchedRequest extends Pick<Exchange, 'request' | 'response' | 'style'> {
  readonly matched: NonNullable<ReturnType<Matcher>>;
  readonly query: URLSearchParams;
  readonly rawQuery: string;
}

async function answer(deps: RestRouterDeps, found: MatchedRequest): Promise<void> {
  const { matched, query, rawQuery, ...facts } = found;
  const { request, response } = facts;
  const exchange = { ...facts, context: deps.contextFor(request), ignored: [] };
  const { writes = [], signIns = [] } = deps;
  const route = 'route' in matched ? matched.route : undefined;
  const rateClass = route === undefined ? 'read' : findRateClass(route, { writes, signIns });
  try {
    await applyRateLimit(deps, exchange, (limiter, caller) => limiter.take(caller, rateClass));
    if ('allow' in matched) return refuseMethod(exchange, matched.allow);
    noteRequest(response, { route: matched.route.path });
    markDeprecated(response, matched.route, deps.settings.publicUrl);
    if (matched.route.headers !== undefined) {
      response.setHeaders(new Map(Object.entries(matched.route.headers)));
    }
    const reply = await runWithFallback(deps, { ...exchange, ...matched, query, rawQuery });
    if (rateClass === 'start' && reply.status >= 400) await refuseStart(deps, exchange);
    send(exchange, reply);
  } catch (thrown) {
    const error = rateClass === 'start' ? await refusedStart(deps, exchange, thrown) : thrown;
    sendFailure(exchange, withHeaderHint(error, request), { logger: deps.logger, route });
  }
}

/** What Kiln does not know is asked at the old service. */
async function runWithFallback(deps: RestRouterDeps, run: RunRequest): Promise<RestResponse> {
  const { fallback } = deps;
  const { url: target = '/', headers } = run.request;
  if (fallback === undefined || headers[ASKED_HEADER] !== undefined) return runRoute(deps, run);
  const operation = { ...run, target, authorization: headers.authorization };
  try {
    const response = await runRoute(deps, run);
    return response.status === 200
      ? { ...response, body: await fallback.joined(operation, response.body) }
      : response;
  } catch (error) {
    const isNotFound = error instanceof AppError && error.code === 'NOT_FOUND';
    const answer = isNotFound ? await fallback.answer(operation) : null;
    if (answer === null) throw error;
    return answer;
  }
}

/** Who is refused without a credential learns when the one that came could not be read. */
function withHeaderHint(error: unknown, { headers }: IncomingMessage): unknown {
  const isRefusal = error instanceof AppError && error.code === 'UNAUTHENTICATED';
  if (!isRefusal || !isMalformedBearer(headers.authorization)) return error;
  return new AppError('UNAUTHENTICATED', MALFORMED_BEARER, { cause: error });
}

function splitUrl(url: string) {
  const mark = url.indexOf('?');
  const path = mark === -1 ? url : url.slice(0, mark);
  const rawQuery = mark === -1 ? '' : url.slice(mark + 1);
  return { path, query: new URLSearchParams(rawQuery), rawQuery };
}

type Limiter = NonNullable<RestRouterDeps['rateLimiter']>;

/** Counts a request and sets the rate headers. Throws RATE_LIMITED. */
async function applyRateLimit(
  { rateLimiter }: RestRouterDeps,
  { response, context }: Exchange,
  count: (limiter: Limiter, caller: Caller) => Promise<RateLimitResult> | RateLimitResult,
): Promise<void> {
  if (rateLimiter === undefined) return;
  const result = await count(rateLimiter, context.caller);
  if (result.limit === Infinity) return;
  response.setHeader('X-RateLimit-Limit', String(result.limit));
  response.setHeader('X-RateLimit-Remaining', String(result.remaining));
  response.setHeader('X-RateLimit-Reset', String(result.resetSeconds));
  if (result.allowed) return;
  const message = `more than ${result.limit} requests a minute; try again in ${result.retryAfter} s`;
  throw new AppError('RATE_LIMITED', message, { retryAfter: result.retryAfter });
}

/** A request that was refused has started nothing: it is counted as a write. */
function refuseStart(deps: RestRouterDeps, exchange: Exchange): Promise<void> {
  return applyRateLimit(deps, exchange, (limiter, caller) => limiter.refuseStart(caller));
}

/** Errors after which nothing was started. */
const REFUSALS: ReadonlySet<string> = new Set<AppErrorCode>([
  'BAD_USER_INPUT',
  'NOT_FOUND',
  'NOT_CONFIGURED',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'IDEMPOTENCY_CONFLICT',
  'CONFLICT',
  'PAYLOAD_TOO_LARGE',
]);

async function refusedStart(deps: RestRouterDeps, exchange: Exchange, thrown: unknown): Promise<unknown> {
  if (!(thrown instanceof AppError) || !REFUSALS.has(thrown.code)) return thrown;
  try {
    await refuseStart(deps, exchange);
    return thrown;
  } catch (error) {
    return error;
  }
}

function markDeprecated(response: ServerResponse, route: Route, publicUrl: string): void {
  if (route.deprecated !== true) return;
  response.setHeader('Deprecation', deprecatedSince);
  response.setHeader('Link', `<${publicUrl}/docs>; rel="deprecation"; type="text/html"`);
}
