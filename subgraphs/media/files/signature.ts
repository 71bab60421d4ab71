import { createHmac, timingSafeEqual } from 'node:crypto';

/** Expiring file addresses (FILES_URL_TTL): `exp` and `sig` in the query are the proof. */
export interface Signer {
  /** The query that makes an address valid from now on for the configured time. */
  sign(id: string): string;
  /** Whether the query proves that the address of this id may be used now. */
  verify(id: string, query: URLSearchParams): boolean;
}

/** Signs with HMAC-SHA-256. `ttlSeconds` and the clock decide when an address ends. */
export function createSigner({
  secret,
  ttlSeconds,
  clock,
}: {
  readonly secret: string;
  readonly ttlSeconds: number;
  readonly clock: () => number;
}): Signer {
  const signature = (id: string, expires: number) =>
    createHmac('sha256', secret).update(`kiln file address\n${id}\n${expires}`).digest();
  return {
    sign(id) {
      const expires = Math.floor(clock() / 1_000) + ttlSeconds;
      return `exp=${expires}&sig=${signature(id, expires).toString('base64url')}`;
    },
    verify(id, query) {
      const expires = Number(query.get('exp') ?? Number.NaN);
      if (!Number.isSafeInteger(expires) || expires * 1_000 <= clock()) return false;
      const received = Buffer.from(query.get('sig') ?? '', 'base64url');
      const right = signature(id, expires);
      return received.length === right.length && timingSafeEqual(received, right);
    },
  };
}
