import ipaddr from 'ipaddr.js';
import {
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRedis,
  RateLimiterRes,
} from 'rate-limiter-flexible';

import { anonymousCaller, type Caller, createClientKey } from '../../platform/access/caller.ts';
import {
  DEFAULT_RATE_LIMITS,
  type OwnLimits,
  type RateClass,
  type RateLimits,
} from '../../platform/config/settings/limits.ts';
import type { RedisCounts } from './redis/redis-counts.ts';
import type { SharedCounts } from './shared-counts.ts';

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
  /** Counts a start that was refused as a write instead. Where no write is left, it stays counted as a start. */
  refuseStart(caller: Caller): Promise<RateVerdict>;
}

interface RateLimiterOptions {
  readonly callers?: readonly OwnLimits[];
  /** Counts of several gateways in PostgreSQL; absent: in memory. */
  readonly shared?: SharedCounts | undefined;
  /** Counts of several gateways in Redis, before those. */
  readonly redis?: RedisCounts | undefined;
}

const WINDOW_SECONDS = 60;

type Limiter = Pick<RateLimiterMemory, 'consume' | 'reward'>;

/**
 * Counts in windows of a minute that start with a caller's first request: in Redis, else (and while it is away) in
 * PostgreSQL, else in memory. Classes that are not named keep their default.
 */
export function createRateLimiter(
  limits: Partial<RateLimits> = {},
  { callers = [], ...stores }: RateLimiterOptions = {},
): RateLimiter {
  const perMinute = { ...DEFAULT_RATE_LIMITS, ...limits };
  const findLimits = createCallerLimits(perMinute, callers);
  // Limiters differ by class and limit; callers with the same limits share them.
  const limiters = new Map<string, Limiter>();
  const findLimiter = (rateClass: RateClass, points: number): Limiter => {
    const name = `${rateClass} ${points}`;
    const known = limiters.get(name) ?? createLimiter(rateClass, points, stores);
    limiters.set(name, known);
    return known;
  };
  async function take(asking: Caller, rateClass: RateClass, points = 1): Promise<RateVerdict> {
    // Who tries tokens and codes may have a credential, or many.
    const caller = rateClass === 'sign-in' ? anonymousCaller(asking.traceId, asking.address) : asking;
    const limit = findLimits(caller)?.[rateClass];
    if (limit === undefined) return UNLIMITED;
    const { allowed, state } = await consume(findLimiter(rateClass, limit), createClientKey(caller), points);
    const seconds = Math.max(1, Math.ceil(state.msBeforeNext / 1_000));
    return {
      allowed,
      limit,
      remaining: state.remainingPoints,
      resetSeconds: Math.ceil((Date.now() + state.msBeforeNext) / 1_000),
      retryAfter: allowed ? 0 : seconds,
    };
  }

  return {
    take,
    async refuseStart(caller) {
      const verdict = await take(caller, 'write');
      const limit = findLimits(caller)?.start;
      if (verdict.allowed && limit !== undefined) {
        await findLimiter('start', limit).reward(createClientKey(caller), 1);
      }
      return verdict;
    },
  };
}

/** The verdict on a caller without limits: it has no headers. */
const UNLIMITED: RateVerdict = {
  allowed: true,
  limit: Infinity,
  remaining: Infinity,
  resetSeconds: 0,
  retryAfter: 0,
};

function createLimiter(
  rateClass: RateClass,
  points: number,
  { shared, redis }: Omit<RateLimiterOptions, 'callers'>,
): Limiter {
  const own = { points, duration: WINDOW_SECONDS, keyPrefix: rateClass };
  // A caller over the limit is refused without another query.
  const stored = { ...own, inMemoryBlockOnConsumed: points };
  const memory = new RateLimiterMemory(own);
  const here =
    shared === undefined
      ? memory
      : new RateLimiterPostgres({
          ...stored,
          storeClient: shared,
          storeType: 'client',
          schemaName: 'gateway',
          tableName: 'rate_limits',
          tableCreated: true,
          // One limiter deletes the expired rows of all.
          clearExpiredByTimeout: rateClass === 'read',
          insuranceLimiter: memory,
        });
  if (redis === undefined) return here;
  return new RateLimiterRedis({
    ...stored,
    keyPrefix: `kiln:${rateClass}`,
    storeClient: redis,
    useRedisPackage: true,
    insuranceLimiter: here,
  });
}

/** The rate headers of a response; Retry-After only when it was refused. */
export function rateHeaders(verdict: RateVerdict): Record<string, string> {
  if (verdict.limit === Infinity) return {};
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

/** The limits of a caller: those of RATE_LIMIT_CALLERS that name it, else everybody's; null when it has none. */
function createCallerLimits(
  everybody: RateLimits,
  callers: readonly OwnLimits[],
): (caller: Caller) => RateLimits | null {
  const entries = callers.map(({ caller: named, limits }) => ({
    isMeant: isMeant(named),
    limits: limits && { ...everybody, ...limits },
  }));
  return (caller) => {
    const own = entries.find((entry) => entry.isMeant(caller));
    return own === undefined ? everybody : own.limits;
  };
}

/** An address is that of callers without a credential: a known caller has the limits of its id. */
function isMeant(named: string): (caller: Caller) => boolean {
  if (!ipaddr.isValid(named) && !ipaddr.isValidCIDR(named)) return ({ id }) => id === named;
  const [range, bits] = parseRange(named);
  return ({ kind, address }) => {
    if (kind !== 'anonymous' || address === null || !ipaddr.isValid(address)) return false;
    const found = ipaddr.process(address);
    return found.kind() === range.kind() && found.match(range, bits);
  };
}

function parseRange(named: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (ipaddr.isValidCIDR(named)) return ipaddr.parseCIDR(named);
  const address = ipaddr.process(named);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}
