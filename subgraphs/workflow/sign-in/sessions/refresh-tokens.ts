import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Refresh tokens: `session.generation.mac`, with a mac over the session's salt. The table holds no token, and the
 * successor of a token can be computed again for a concurrent request. Pure.
 */
export interface RefreshTokenParts {
  readonly sessionId: string;
  readonly generation: number;
}

const FORM = /^(ses_[\w-]{1,64})\.([1-9]\d{0,9})\.([\w-]{43})$/;

/** The token of a session's generation. */
export function refreshTokenOf(
  key: Uint8Array,
  { sessionId, generation, salt }: RefreshTokenParts & { readonly salt: string },
): string {
  const mac = createHmac('sha256', key).update(`${sessionId}\0${generation}\0${salt}`).digest('base64url');
  return `${sessionId}.${generation}.${mac}`;
}

/** Parses a refresh token without verifying it; null for any other text. */
export function readRefreshToken(token: string): RefreshTokenParts | null {
  const [, sessionId, generation] = FORM.exec(token) ?? [];
  return sessionId === undefined ? null : { sessionId, generation: Number(generation) };
}

/** Whether two tokens are the same, in constant time. */
export function isSameToken(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
