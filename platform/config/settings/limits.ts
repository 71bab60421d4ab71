import ipaddr from 'ipaddr.js';
import { z } from 'zod';

/**
 * Classes of requests that are counted separately: status reads (files and sockets too), other reads, starts of work, other
 * changes (uploads, cancels, catalogs, starts that were refused), sign-ins, which count per address whoever asks, and the points
 * of GraphQL documents that are new.
 */
export type RateClass = 'status' | 'read' | 'start' | 'write' | 'sign-in' | 'plan';

/** Requests per minute and caller. */
export type RateLimits = Readonly<Record<RateClass, number>>;

/** The limits of one caller in place of everybody's: classes that are not named keep theirs. */
export interface OwnLimits {
  /** The id of a caller (`key_...`, `usr_...`), or an address or CIDR range. */
  readonly caller: string;
  /** Null: no limits. */
  readonly limits: Partial<RateLimits> | null;
}

/** The limits of whoever has none of their own. */
export const DEFAULT_RATE_LIMITS: RateLimits = {
  status: 6_000,
  read: 1_200,
  start: 120,
  write: 600,
  'sign-in': 120,
  plan: 600,
};
const EXAMPLE = 'status=6000,read=1200,start=120,write=600,sign-in=120,plan=600 (a minute)';
const REMEDY = `must be on, off, or a list such as ${EXAMPLE}`;
const CALLERS_REMEDY = `must be callers with their limits, such as key_shop start=1000,write=5000; 10.0.0.0/8 off`;

/** RATE_LIMIT: on, off (null), or class=perMinute; classes that are not named keep their default. */
export const rateLimits = z.string().transform((value, context): RateLimits | null => {
  const text = value.toLowerCase();
  if (text === 'on') return DEFAULT_RATE_LIMITS;
  if (text === 'off') return null;
  const named = namedLimits(value);
  if (named !== null) return { ...DEFAULT_RATE_LIMITS, ...named };
  context.addIssue({ code: 'custom', message: REMEDY });
  return z.NEVER;
});

/** RATE_LIMIT_CALLERS: `caller limits` separated by semicolons. */
export const callerRates = z.string().transform((value, context): readonly OwnLimits[] => {
  const entries = value.split(';').filter((entry) => entry.trim() !== '');
  const rates = entries.map(callerRate);
  if (rates.every((rate) => rate !== null)) return rates;
  context.addIssue({ code: 'custom', message: CALLERS_REMEDY });
  return z.NEVER;
});

function callerRate(entry: string): OwnLimits | null {
  const [, caller = '', words = ''] = /^\s*(\S+)\s+(\S.*?)\s*$/s.exec(entry) ?? [];
  if (!/^(key|usr)_\S+$/.test(caller) && !ipaddr.isValid(caller) && !ipaddr.isValidCIDR(caller)) return null;
  if (words.toLowerCase() === 'off') return { caller, limits: null };
  const limits = namedLimits(words);
  return limits && { caller, limits };
}

/** `class=perMinute` separated by commas; null when it is something else. */
function namedLimits(value: string): Partial<RateLimits> | null {
  const found = value
    .split(',')
    .map((entry) => /^\s*(status|read|start|write|sign-in|plan)\s*=\s*([1-9]\d{0,8})\s*$/.exec(entry));
  if (found.includes(null)) return null;
  return Object.fromEntries(found.map((entry) => [entry?.[1], Number(entry?.[2])]));
}

/** How much one caller may upload; 0: no bound. */
interface UploadQuota {
  readonly bytes: number;
  readonly files: number;
}

type Quotas = Readonly<Record<'anonymous' | 'user' | 'key', UploadQuota>>;

const DEFAULT_QUOTAS: Quotas = {
  anonymous: { bytes: 10 * 1024 ** 3, files: 1_000 },
  user: { bytes: 100 * 1024 ** 3, files: 10_000 },
  key: { bytes: 0, files: 0 },
};

/** UPLOAD_QUOTAS: class=bytes/files separated by commas; classes that are not named keep their default. */
export const uploadQuotas = z.string().transform((value, context): Quotas => {
  const found = value
    .split(',')
    .map((entry) => /^\s*(anonymous|user|key)\s*=\s*(\d{1,15})\s*\/\s*(\d{1,9})\s*$/.exec(entry));
  if (!found.includes(null)) {
    const named = found.map((entry) => [
      entry?.[1],
      { bytes: Number(entry?.[2]), files: Number(entry?.[3]) },
    ]);
    return { ...DEFAULT_QUOTAS, ...(Object.fromEntries(named) as Partial<Quotas>) };
  }
  const message =
    'must be a list such as anonymous=10737418240/1000,user=0/10000,key=0/0 (bytes/files, 0 = no bound)';
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});
