import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';

import type { Caller } from '../../platform/access/caller.ts';
import { clientKeyOf } from './client-key.ts';
import type { SharedCounts } from './shared-counts.ts';

/** Classes of requests that are counted separately: status reads (files and sockets too), other reads, starts of work. */
export type RateClass = 'status' | 'read' | 'start';

/** Requests per minute and caller. */
export type RateLimits = Readonly<Record<RateClass, number>>;

const DEFAULT_RATE_LIMITS: RateLimits = { status: 6_000, read: 1_200, start: 120 };

/** The remaining requests of a caller, and whether this one is allowed. */
export interface RateVerdict {
  readonly allowed: boolean;
  /** Requests per minute. */
  readonly limit: number;
  readonly remaining: number;
  /** When the window ends, in epoch seconds: X-RateLimit-Reset. */
  readonly resetSeconds: number;
  /** Seconds to wait, at least 1, when not allowed; 0 otherwise. */
  readonly retryAfter: number;
}

/** Counts requests against callers. */
export interface RateLimiter {
  /** Counts a request (`points` of them, default 1) against a caller. Never throws for a caller over the limit. */
  take(caller: Caller, rateClass: RateClass, points?: number): Promise<RateVerdict>;
}

const WINDOW_SECONDS = 60;

type Limiter = Pick<RateLimiterMemory, 'consume'>;

/**
 * Counts in windows of a minute that start with a caller's first request: in shared counters where there are any, else
 * (and while those are away) in memory.
 */
export function createRateLimiter(limits: Partial<RateLimits> = {}, shared?: SharedCounts): RateLimiter {
  const perMinute = { ...DEFAULT_RATE_LIMITS, ...limits };
  const make = (rateClass: RateClass): Limiter => {
    const points = perMinute[rateClass];
    const own = { points, duration: WINDOW_SECONDS, keyPrefix: rateClass };
    const memory = new RateLimiterMemory(own);
    if (shared === undefined) return memory;
    return new RateLimiterPostgres({
      ...own,
      storeClient: shared,
      storeType: 'client',
      schemaName: 'gateway',
      tableName: 'rate_limits',
      tableCreated: true,
      // One limiter deletes the expired rows of all.
      clearExpiredByTimeout: rateClass === 'read',
      // A caller over the limit is refused without another query.
      inMemoryBlockOnConsumed: points,
      insuranceLimiter: memory,
    });
  };
  const limiters = { status: make('status'), read: make('read'), start: make('start') };

  return {
    async take(caller, rateClass, points = 1) {
      const { allowed, state } = await consume(limiters[rateClass], clientKeyOf(caller), points);
      const seconds = Math.max(1, Math.ceil(state.msBeforeNext / 1_000));
      return {
        allowed,
        limit: perMinute[rateClass],
        remaining: state.remainingPoints,
        resetSeconds: Math.ceil((Date.now() + state.msBeforeNext) / 1_000),
        retryAfter: allowed ? 0 : seconds,
      };
    },
  };
}

/** The rate headers of a response; Retry-After only when it was refused. */
export function rateHeaders(verdict: RateVerdict): Record<string, string> {
  return {
    'X-RateLimit-Limit': String(verdict.limit),
    'X-RateLimit-Remaining': String(verdict.remaining),
    'X-RateLimit-Reset': String(verdict.resetSeconds),
    ...(verdict.allowed ? {} : { 'Retry-After': String(verdict.retryAfter) }),
  };
}

async function consume(
  limiter: Limiter,
  key: string,
  points: number,
): Promise<{ allowed: boolean; state: RateLimiterRes }> {
  try {
    return { allowed: true, state: await limiter.consume(key, points) };
  } catch (refused) {
    // The library rejects with the state when the limit is reached; anything else is a failure.
    if (refused instanceof RateLimiterRes) return { allowed: false, state: refused };
    throw refused;
  }
}
