import type { ServerResponse } from 'node:http';

import type { Caller } from '../../../platform/access/caller.ts';
import { AppError } from '../../../platform/errors.ts';
import type { RateClass } from '../../../rest-compat/route/route.ts';

/** Counts requests as on every other way in, and tells the counts in OpenAI's headers. */

/** The remaining requests of a caller, and whether this one is allowed. */
interface Verdict {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** When the count is reset, in epoch seconds. */
  readonly resetSeconds: number;
  /** Seconds to wait when not allowed. */
  readonly retryAfter: number;
}

/** Counts requests against callers. */
export interface RequestLimiter {
  take(caller: Caller, rateClass: RateClass): Promise<Verdict> | Verdict;
}

/** Counts a request and sets the headers. Throws RATE_LIMITED. */
export async function limitRequests(
  limiter: RequestLimiter | undefined,
  { response, caller }: { readonly response: ServerResponse; readonly caller: Caller },
  rateClass: RateClass,
): Promise<void> {
  if (limiter === undefined) return;
  const { allowed, limit, remaining, resetSeconds, retryAfter } = await limiter.take(caller, rateClass);
  if (limit === Infinity) return;
  response.setHeader('x-ratelimit-limit-requests', String(limit));
  response.setHeader('x-ratelimit-remaining-requests', String(remaining));
  const seconds = Math.max(0, resetSeconds - Math.floor(Date.now() / 1_000));
  response.setHeader('x-ratelimit-reset-requests', `${seconds}s`);
  if (allowed) return;
  const message = `Rate limit reached: ${limit} requests a minute. Please try again in ${retryAfter}s.`;
  throw new AppError('RATE_LIMITED', message, { retryAfter });
}
