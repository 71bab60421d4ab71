import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * The proof that somebody without a credential made a thing. Its id stands in public addresses, so the id reads and this
 * token changes. The caller gets it once; only its hash is stored.
 */
export interface ManageToken {
  /** 32 random bytes, base64url. */
  readonly token: string;
  /** SHA-256 of the token, hexadecimal. */
  readonly hash: string;
}

/** Makes a token for something new. */
export function newManageToken(): ManageToken {
  const token = randomBytes(32).toString('base64url');
  return { token, hash: hashToken(token) };
}

/** Whether this token is the one of a stored hash; never when either is missing. */
export function isManageToken(token: string | null, hash: string | null): boolean {
  if (token === null || hash === null) return false;
  const stored = Buffer.from(hash);
  const received = Buffer.from(hashToken(token));
  return stored.length === received.length && timingSafeEqual(stored, received);
}

function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
