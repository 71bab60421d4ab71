import type { Request, RequestHandler, Response } from 'express';

import type { Caller } from '../../platform/access/caller.ts';
import { AppError } from '../../platform/errors.ts';
import { isSelfAuthenticating } from '../../rest-compat/self-authenticating.ts';
import { rateHeaders, type RateLimiter } from '../limits/rate-limit.ts';
import { attachContext, contextOf } from '../request/request-context.ts';
import type { CallerFinder } from './caller.ts';

/** Middleware that finds the caller of each request, and counts requests that reach no handler. */

export interface AuthenticateOptions {
  readonly callers: CallerFinder;
  /** Absent when rates are not limited. */
  readonly rateLimiter?: RateLimiter | undefined;
}

/**
 * Finds the caller. An unknown bearer is refused on /graphql and ignored on the documented paths, where old clients
 * send such. An expired one is refused everywhere, unless the request is self-authenticating: clients send it along to
 * renew it. Refused ones count against their address, so that guessing is limited.
 */
export function authenticate({ callers, rateLimiter }: AuthenticateOptions): RequestHandler {
  return async (request, response, next) => {
    const isGraphql = /^\/graphql\/?$/.test(request.path);
    try {
      const authorization = authorizationOf(request);
      attachContext(request, response, await callers.find(request, { strict: isGraphql, authorization }));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const nobody = await callers.find(request, { authorization: '' });
      const hasEnded = error.code === 'UNAUTHENTICATED';
      if (hasEnded && isSelfAuthenticating(request.method, request.path)) {
        attachContext(request, response, nobody);
        return next();
      }
      const refusal = (hasEnded ? await overLimit(nobody, { rateLimiter, response }) : null) ?? error;
      if (!isGraphql) throw refusal;
      return answerGraphql(response, refusal);
    }
    next();
  };
}

/** Counts a request that no handler serves as a read, so that probing for paths is limited. */
export function countUnmatched(rateLimiter: RateLimiter | undefined): RequestHandler {
  return async (request, response, next) => {
    const refusal = await overLimit(contextOf(request).caller, { rateLimiter, response });
    if (refusal !== null) throw refusal;
    next();
  };
}

/** Counts a read and sets the rate headers; returns the refusal when the limit is exceeded. */
async function overLimit(
  caller: Caller,
  { rateLimiter, response }: Pick<AuthenticateOptions, 'rateLimiter'> & { readonly response: Response },
): Promise<AppError | null> {
  const verdict = await rateLimiter?.take(caller, 'read');
  if (verdict === undefined) return null;
  response.set(rateHeaders(verdict));
  if (verdict.allowed) return null;
  const { limit, retryAfter } = verdict;
  return new AppError('RATE_LIMITED', `more than ${limit} requests a minute; try again in ${retryAfter} s`, {
    retryAfter,
  });
}

/** HTTP statuses of refusals before GraphQL; anything else is temporarily unavailable. */
const STATUSES: Readonly<Record<string, number>> = { UNAUTHENTICATED: 401, RATE_LIMITED: 429 };

function answerGraphql(response: Response, { code, message, retryAfter }: AppError): void {
  response.status(STATUSES[code] ?? 503);
  if (code === 'UNAUTHENTICATED') response.set('WWW-Authenticate', 'Bearer');
  if (retryAfter !== undefined) response.set('Retry-After', String(retryAfter));
  const extensions = retryAfter === undefined ? { code } : { code, retryAfter };
  response.json({ errors: [{ message, extensions }] });
}

/** The only path that takes an access token in its query, as documented; the header has precedence. */
const TAKES_TOKEN = /^\/auth\/idp\/userinfo\/?$/;

function authorizationOf({ headers, path, query }: Request): string | undefined {
  const { access_token: token } = query;
  const isGiven = headers.authorization !== undefined || typeof token !== 'string' || token === '';
  return isGiven || !TAKES_TOKEN.test(path) ? headers.authorization : `Bearer ${token}`;
}
