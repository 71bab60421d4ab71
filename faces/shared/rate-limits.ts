import type { ServerResponse } from 'node:http';

import type { Caller } from '../../platform/access/caller.ts';
import { AppError } from '../../platform/errors.ts';
import type { RateClass } from '../../rest-compat/route/route.ts';

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
  /** Counts a start that was refused as a write instead. */
  refuseStart(caller: Caller): Promise<Verdict> | Verdict;
}

interface Counted {
  readonly response: ServerResponse;
  readonly caller: Caller;
}

/** Counts a request and sets the headers. Throws RATE_LIMITED. */
export async function limitRequests(
  limiter: RequestLimiter | undefined,
  counted: Counted,
  rateClass: RateClass,
): Promise<void> {
  if (limiter !== undefined) tell(counted, await limiter.take(counted.caller, rateClass));
}

/** A start that was refused has started nothing: it is counted as a write. What to answer: the refusal, or RATE_LIMITED where no write is left. */
export async function countRefusal(
  limiter: RequestLimiter | undefined,
  counted: Counted,
  refusal: unknown,
): Promise<unknown> {
  try {
    if (limiter !== undefined) tell(counted, await limiter.refuseStart(counted.caller));
    return refusal;
  } catch (error) {
    return error;
  }
}

function tell({ response }: Counted, { allowed, limit, remaining, resetSeconds, retryAfter }: Verdict): void {
  if (limit === Infinity) return;
  response.setHeader('x-ratelimit-limit-requests', String(limit));
  response.setHeader('x-ratelimit-remaining-requests', String(remaining));
  const seconds = Math.max(0, resetSeconds - Math.floor(Date.now() / 1_000));
  response.setHeader('x-ratelimit-reset-requests', `${seconds}s`);
  if (allowed) return;
  const message = `Rate limit reached: ${limit} requests a minute. Please try again in ${retryAfter}s.`;
  throw new AppError('RATE_LIMITED', message, { retryAfter });
}
