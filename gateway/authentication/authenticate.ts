import type { ServerResponse } from 'node:http';

import type { RequestHandler } from 'express';

import type { Caller } from '../../platform/access/caller.ts';
import type { RateClass } from '../../platform/config/settings/limits.ts';
import { AppError } from '../../platform/errors.ts';
import { isSelfAuthenticating } from '../../rest-compat/tables.ts';
import { type RateLimiter, rateHeaders } from '../limits/rate-limit.ts';
import { attachContext, type ReserveStream, requireContext } from '../request/request-context.ts';
import { type Exchange, IS_GRAPHQL, IS_MCP, sendJson, type Step } from '../request/steps.ts';
import { type CallerFinder, hasCredential } from './caller.ts';

/** The step that finds the caller of each request. */

export interface AuthenticateOptions {
  readonly callers: CallerFinder;
  /** Refuses requests to /graphql without a credential, where no subgraph does. */
  readonly requiresCredential?: boolean | undefined;
  /** Answers a refusal on /mcp, as its clients expect; absent: it is not served. */
  readonly refuseMcp?: ((response: ServerResponse, refusal: AppError) => void) | undefined;
  /** Absent when rates are not limited. */
  readonly rateLimiter?: RateLimiter | undefined;
  /** Opens streams as answers (default: there are none). */
  readonly reserveStream?: ReserveStream | undefined;
}

/**
 * Finds the caller. An unknown bearer is refused on /graphql and /mcp, and ignored on the documented paths, where old clients
 * send such. An expired one is refused everywhere, unless the request is self-authenticating: clients send it along to
 * renew it. Refused ones count against their address, so that guessing is limited.
 */
export function authenticate({
  callers,
  rateLimiter,
  refuseMcp,
  requiresCredential = false,
  reserveStream,
}: AuthenticateOptions): Step {
  return async (exchange) => {
    const { request, response, path } = exchange;
    const isGraphql = IS_GRAPHQL.test(path);
    const refuse = isGraphql ? answerGraphql : IS_MCP.test(path) ? refuseMcp : undefined;
    try {
      const authorization = readAuthorization(exchange);
      const caller = await callers.find(request, { strict: refuse !== undefined, authorization });
      if (isGraphql && requiresCredential && !hasCredential(caller)) {
        throw new AppError('UNAUTHENTICATED', 'this needs a credential: send Authorization: Bearer');
      }
      attachContext(request, response, caller, reserveStream);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const nobody = await callers.find(request, { authorization: '' });
      const hasEnded = error.code === 'UNAUTHENTICATED';
      if (hasEnded && isSelfAuthenticating(request.method ?? 'GET', path)) {
        attachContext(request, response, nobody);
        return true;
      }
      const refusal =
        (hasEnded ? await overLimit(nobody, { rateLimiter, rateClass: 'read', response }) : null) ?? error;
      if (refuse === undefined) throw refusal;
      refuse(response, refusal);
      return false;
    }
    return true;
  };
}

/** HTTP statuses of refusals before GraphQL; anything else is temporarily unavailable. */
const STATUSES: Readonly<Record<string, number>> = { UNAUTHENTICATED: 401, RATE_LIMITED: 429 };

/** Responds with a refusal as GraphQL clients expect. */
export function answerGraphql(response: ServerResponse, { code, message, retryAfter }: AppError): void {
  if (code === 'UNAUTHENTICATED') response.setHeader('WWW-Authenticate', 'Bearer');
  if (retryAfter !== undefined) response.setHeader('Retry-After', String(retryAfter));
  const extensions = retryAfter === undefined ? { code } : { code, retryAfter };
  sendJson(response, STATUSES[code] ?? 503, { errors: [{ message, extensions }] });
}

/** The only path that takes an access token in its query, as documented; the header has precedence. */
const TAKES_TOKEN = /^\/auth\/idp\/userinfo\/?$/;

function readAuthorization({ request: { headers, url = '' }, path }: Exchange): string | undefined {
  if (headers.authorization !== undefined || !TAKES_TOKEN.test(path)) return headers.authorization;
  const query = url.includes('?') ? url.slice(url.indexOf('?')) : '';
  const tokens = new URLSearchParams(query).getAll('access_token');
  const [token = ''] = tokens;
  return tokens.length !== 1 || token === '' ? undefined : `Bearer ${token}`;
}

/** Counts requests against their callers, before their bodies are read. */

/** Middleware that counts every request in a class, and refuses those over the limit with RATE_LIMITED. */
export function countRequests(rateLimiter: RateLimiter | undefined, rateClass: RateClass): RequestHandler {
  return async (request, response, next) => {
    const { caller } = requireContext(request);
    const refusal = await overLimit(caller, { rateLimiter, rateClass, response });
    if (refusal !== null) throw refusal;
    next();
  };
}

interface CountOptions {
  readonly rateLimiter?: RateLimiter | undefined;
  readonly rateClass: RateClass;
  readonly response: ServerResponse;
}

/** Counts a request and sets the rate headers; returns the refusal when the limit is exceeded. */
export async function overLimit(
  caller: Caller,
  { rateLimiter, rateClass, response }: CountOptions,
): Promise<AppError | null> {
  const verdict = await rateLimiter?.take(caller, rateClass);
  if (verdict === undefined) return null;
  response.setHeaders(new Map(Object.entries(rateHeaders(verdict))));
  if (verdict.allowed) return null;
  const { limit, retryAfter } = verdict;
  return new AppError('RATE_LIMITED', `more than ${limit} requests a minute; try again in ${retryAfter} s`, {
    retryAfter,
  });
}
