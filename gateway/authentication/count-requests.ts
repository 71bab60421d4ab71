import type { ServerResponse } from 'node:http';

import type { RequestHandler } from 'express';

import type { Caller } from '../../platform/access/caller.ts';
import { AppError } from '../../platform/errors.ts';
import { rateHeaders, type RateLimiter } from '../limits/rate-limit.ts';
import type { RateClass } from '../limits/rates.ts';
import { contextOf } from '../request/request-context.ts';

/** Counts requests against their callers, before their bodies are read. */

/** Middleware that counts every request in a class, and refuses those over the limit with RATE_LIMITED. */
export function countRequests(rateLimiter: RateLimiter | undefined, rateClass: RateClass): RequestHandler {
  return async (request, response, next) => {
    const { caller } = contextOf(request);
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
