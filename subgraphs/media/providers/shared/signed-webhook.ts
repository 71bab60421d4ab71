/** What the checks of signed notices share. */

/** Seconds that the time of a notice may lie off ours. */
const TOLERANCE_SECONDS = 300;

/** Whether the time of a notice, in seconds since 1970, is near enough to now not to be an old one sent again. */
export function isRecent(timestamp: string | undefined): boolean {
  if (timestamp === undefined || !/^\d{1,12}$/.test(timestamp)) return false;
  return Math.abs(Date.now() / 1000 - Number(timestamp)) <= TOLERANCE_SECONDS;
}

/** Something of an account that was fetched and is used for some time. */
export interface KeptKeys<Keys> {
  /** What is known for this account, fetched when nothing is. */
  get(account: string, fetch: () => Promise<Keys>): Promise<Keys>;
  /** The same fetched anew, as keys may have been changed; null when that was done just now. */
  renewed(account: string, fetch: () => Promise<Keys>): Promise<Keys | null>;
}

/** Most accounts that are remembered; the oldest is fetched again. */
const MAX_ACCOUNTS = 50;
const KEPT_MS = 6 * 3_600_000;
/** Forged notices shall not make us ask the vendor for its keys over and over. */
const RENEWAL_PAUSE_MS = 60_000;

/** Remembers keys for some hours, by account. */
export function keepKeys<Keys>(): KeptKeys<Keys> {
  const kept = new Map<string, { readonly keys: Promise<Keys>; readonly at: number }>();
  const renew = (account: string, fetch: () => Promise<Keys>): Promise<Keys> => {
    kept.delete(account);
    const entry = { keys: fetch(), at: performance.now() };
    kept.set(account, entry);
    entry.keys.catch(() => {
      if (kept.get(account) === entry) kept.delete(account);
    });
    const [oldest] = kept.keys();
    if (kept.size > MAX_ACCOUNTS && oldest !== undefined) kept.delete(oldest);
    return entry.keys;
  };
  const ageOf = (account: string) => performance.now() - (kept.get(account)?.at ?? -Infinity);
  return {
    async get(account, fetch) {
      const known = ageOf(account) < KEPT_MS ? kept.get(account) : undefined;
      return known?.keys ?? renew(account, fetch);
    },
    async renewed(account, fetch) {
      return ageOf(account) < RENEWAL_PAUSE_MS ? null : renew(account, fetch);
    },
  };
}
