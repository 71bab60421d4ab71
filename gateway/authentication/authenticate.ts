import type { ServerResponse } from 'node:http';

import type { Request, RequestHandler } from 'express';

import { AppError } from '../../platform/errors.ts';
import { isSelfAuthenticating } from '../../rest-compat/self-authenticating.ts';
import type { RateLimiter } from '../limits/rate-limit.ts';
import { attachContext } from '../request/request-context.ts';
import { sendJson } from '../request/send-json.ts';
import { type CallerFinder, hasCredential } from './caller.ts';
import { overLimit } from './count-requests.ts';

/** Middleware that finds the caller of each request. */

export interface AuthenticateOptions {
  readonly callers: CallerFinder;
  /** Refuses requests to /graphql without a credential, where no subgraph does. */
  readonly requiresCredential?: boolean | undefined;
  /** Answers a refusal on /mcp, as its clients expect; absent: it is not served. */
  readonly refuseMcp?: ((response: ServerResponse, refusal: AppError) => void) | undefined;
  /** Absent when rates are not limited. */
  readonly rateLimiter?: RateLimiter | undefined;
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
}: AuthenticateOptions): RequestHandler {
  return async (request, response, next) => {
    const isGraphql = /^\/graphql\/?$/.test(request.path);
    const refuse = isGraphql ? answerGraphql : /^\/mcp\/?$/.test(request.path) ? refuseMcp : undefined;
    try {
      const authorization = authorizationOf(request);
      const caller = await callers.find(request, { strict: refuse !== undefined, authorization });
      if (isGraphql && requiresCredential && !hasCredential(caller)) {
        throw new AppError('UNAUTHENTICATED', 'this needs a credential: send Authorization: Bearer');
      }
      attachContext(request, response, caller);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const nobody = await callers.find(request, { authorization: '' });
      const hasEnded = error.code === 'UNAUTHENTICATED';
      if (hasEnded && isSelfAuthenticating(request.method, request.path)) {
        attachContext(request, response, nobody);
        return next();
      }
      const refusal =
        (hasEnded ? await overLimit(nobody, { rateLimiter, rateClass: 'read', response }) : null) ?? error;
      if (refuse === undefined) throw refusal;
      return refuse(response, refusal);
    }
    next();
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

function authorizationOf({ headers, path, query }: Request): string | undefined {
  const { access_token: token } = query;
  const isGiven = headers.authorization !== undefined || typeof token !== 'string' || token === '';
  return isGiven || !TAKES_TOKEN.test(path) ? headers.authorization : `Bearer ${token}`;
}
