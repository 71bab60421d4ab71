import { LRUCache } from 'lru-cache';

/** What the verification of signed provider webhooks shares. */

/** Most seconds between the timestamp of a webhook and now. */
const TOLERANCE_SECONDS = 300;

/** Whether a timestamp (seconds since 1970) is recent enough for the webhook not to be a replay. */
export function isRecent(timestamp: string | undefined): boolean {
  if (timestamp === undefined || !/^\d{1,12}$/.test(timestamp)) return false;
  return Math.abs(Date.now() / 1000 - Number(timestamp)) <= TOLERANCE_SECONDS;
}

/** Most accounts whose keys are cached. */
const MAX_ACCOUNTS = 50;
const TTL_MS = 6 * 3_600_000;
/** Least milliseconds between two fetches of the same keys, so that forged webhooks do not flood the vendor. */
const RENEWAL_PAUSE_MS = 60_000;

/** One signature to verify: the account, how its keys are fetched, and the verification with them. */
interface SignatureCheck<Keys> {
  readonly account: string;
  readonly fetch: () => Promise<Keys>;
  readonly matches: (keys: Keys) => boolean;
}

/**
 * Creates a check that caches keys by account. A signature that does not match is tried again with fresh keys, as they
 * may have been rotated.
 */
export function createSignatureCheck<Keys extends object>(): (
  check: SignatureCheck<Keys>,
) => Promise<boolean> {
  const cache = new LRUCache<string, Keys, () => Promise<Keys>>({
    max: MAX_ACCOUNTS,
    ttl: TTL_MS,
    // A forced refresh that fails must not drop keys that are still fresh.
    noDeleteOnFetchRejection: true,
    fetchMethod: (_account, _stale, { context }) => context(),
  });
  return async ({ account, fetch, matches }) => {
    if (matches(await cache.forceFetch(account, { context: fetch }))) return true;
    if (TTL_MS - cache.getRemainingTTL(account) < RENEWAL_PAUSE_MS) return false;
    return matches(await cache.forceFetch(account, { context: fetch, forceRefresh: true }));
  };
}
