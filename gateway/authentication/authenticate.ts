import type { Request, RequestHandler, Response } from 'express';

import type { Caller } from '../../platform/access/caller.ts';
import { AppError } from '../../platform/errors.ts';
import { carriesOwnProof } from '../../rest-compat/self-authenticating.ts';
import { rateHeaders, type RateLimiter } from '../limits/rate-limit.ts';
import { attachContext, contextOf } from '../request/request-context.ts';
import type { CallerFinder } from './caller.ts';

/** The steps at the door that find out who sends a request, and count what nothing behind it counts. */

export interface AuthenticateOptions {
  readonly callers: CallerFinder;
  /** Absent when rates are not limited. */
  readonly rateLimiter?: RateLimiter | undefined;
}

/**
 * A bearer that nobody knows is refused on /graphql and ignored on the documented paths, as old clients send such. One
 * that has ended is refused everywhere, but where the request proves itself: clients send it along to renew it. Refused
 * ones count against their address: nobody guesses without a limit.
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
      if (hasEnded && carriesOwnProof(request.method, request.path)) {
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

/** What no part of the door serves costs a read, too: whoever tries paths has a limit. */
export function countUnmatched(rateLimiter: RateLimiter | undefined): RequestHandler {
  return async (request, response, next) => {
    const refusal = await overLimit(contextOf(request).caller, { rateLimiter, response });
    if (refusal !== null) throw refusal;
    next();
  };
}

/** Counts a read and tells the caller what is left; the refusal of one who has nothing left. */
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

/** The HTTP statuses of what is answered before GraphQL; anything else is our own trouble, for now. */
const STATUSES: Readonly<Record<string, number>> = { UNAUTHENTICATED: 401, RATE_LIMITED: 429 };

function answerGraphql(response: Response, { code, message, retryAfter }: AppError): void {
  response.status(STATUSES[code] ?? 503);
  if (code === 'UNAUTHENTICATED') response.set('WWW-Authenticate', 'Bearer');
  if (retryAfter !== undefined) response.set('Retry-After', String(retryAfter));
  const extensions = retryAfter === undefined ? { code } : { code, retryAfter };
  response.json({ errors: [{ message, extensions }] });
}

/** The one path that takes an access token in its query, as its document says; the header comes first. */
const TAKES_TOKEN = /^\/auth\/idp\/userinfo\/?$/;

function authorizationOf({ headers, path, query }: Request): string | undefined {
  const { access_token: token } = query;
  const isGiven = headers.authorization !== undefined || typeof token !== 'string' || token === '';
  return isGiven || !TAKES_TOKEN.test(path) ? headers.authorization : `Bearer ${token}`;
}
