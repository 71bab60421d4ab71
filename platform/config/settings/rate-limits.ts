import { z } from 'zod';

/** Requests per minute and caller, by class; null when limits are off. */
export type RateLimits = { readonly [Class in RateClass]: number } | null;

/** Classes of requests: reading a task's status, reading anything else, starting or changing something. */
type RateClass = 'status' | 'read' | 'start';

const DEFAULTS: Readonly<Record<RateClass, number>> = { status: 6_000, read: 1_200, start: 120 };
const REMEDY = 'must be on, off, or a list such as status=6000,read=1200,start=120 (requests a minute)';

/** RATE_LIMIT: on, off, or class=perMinute; classes that are not named keep their default. */
export const rateLimits = z.string().transform((value, context): RateLimits => {
  const text = value.toLowerCase();
  if (text === 'on') return DEFAULTS;
  if (text === 'off') return null;
  const limits = { ...DEFAULTS };
  for (const entry of value.split(',')) {
    const found = /^\s*(status|read|start)\s*=\s*([1-9]\d{0,8})\s*$/.exec(entry);
    if (found === null) {
      context.addIssue({ code: 'custom', message: REMEDY });
      return z.NEVER;
    }
    limits[found[1] as RateClass] = Number(found[2]);
  }
  return limits;
});
