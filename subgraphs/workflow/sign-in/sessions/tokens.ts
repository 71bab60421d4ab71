import { createHmac, timingSafeEqual } from 'node:crypto';

import type { JWTPayload } from 'jose';
import { z } from 'zod';

import type { SigningKeys } from '../secrets/signing-keys.ts';

/** The claims of an access token. */
interface AccessClaims {
  readonly userId: string;
  readonly sessionId: string;
  /** separated by spaces. */
  readonly scope: string;
  readonly expiresAt: Date;
}

/** Our access tokens: JWTs (`typ` at+jwt, EdDSA) that expire after 15 minutes. */
export type AccessTokens = ReturnType<typeof createAccessTokens>;

interface AccessTokensOptions {
  readonly keys: SigningKeys;
  /** PUBLIC_URL. */
  readonly issuer: string;
  /** Seconds that a token lives. */
  readonly seconds: number;
  readonly now?: () => Date;
}

/** The audience of the tokens: this API. */
export const AUDIENCE = 'kiln';
const ALGORITHM = 'EdDSA';
const TYPE = 'at+jwt';
const CLOCK_SECONDS = 5;

const payload = z.object({
  sub: z.string().startsWith('usr_'),
  sid: z.string().startsWith('ses_'),
  scope: z.string(),
  exp: z.number(),
});

/** Creates it; tokens expire after `seconds`. */
export function createAccessTokens({ keys, issuer, seconds, now = () => new Date() }: AccessTokensOptions) {
  return {
    /** Whether a bearer has the form of a token of ours, valid or not. */
    isOurs: (bearer: string) => hasTokenForm(bearer, issuer),
    async sign({
      userId,
      sessionId,
      scope,
      platform,
    }: Omit<AccessClaims, 'expiresAt'> & { readonly platform: string }): Promise<string> {
      // Loaded only when needed.
      const { SignJWT } = await import('jose');
      const { kid, key } = await keys.current();
      const issued = Math.floor(now().getTime() / 1000);
      return new SignJWT({ sid: sessionId, scope, platform })
        .setProtectedHeader({ alg: ALGORITHM, kid, typ: TYPE })
        .setSubject(userId)
        .setIssuer(issuer)
        .setAudience(AUDIENCE)
        .setIssuedAt(issued)
        .setExpirationTime(issued + seconds)
        .sign(key);
    },
    /**
     * Null for anything but a valid token of ours; one that ended at most `toleranceSeconds` ago still counts. Whether its session
     * is open is checked by the caller.
     */
    async verify(token: string, toleranceSeconds = CLOCK_SECONDS): Promise<AccessClaims | null> {
      const claims = await verified(token, { keys, issuer, now: now(), toleranceSeconds });
      const parsed = payload.safeParse(claims);
      if (!parsed.success) return null;
      const { sub, sid, scope, exp } = parsed.data;
      return { userId: sub, sessionId: sid, scope, expiresAt: new Date(exp * 1000) };
    },
  };
}

/** Verifies a token. The algorithm is pinned, against `none` and against our public key used as an HMAC secret. */
async function verified(
  token: string,
  {
    keys,
    issuer,
    now,
    toleranceSeconds,
  }: Pick<AccessTokensOptions, 'keys' | 'issuer'> & { readonly now: Date; readonly toleranceSeconds: number },
): Promise<JWTPayload | null> {
  const { jwtVerify } = await import('jose');
  let isOurFault = false;
  try {
    const { payload: claims } = await jwtVerify(
      token,
      async ({ kid }) => {
        const key = await keys.publicKey(kid ?? '').catch((error: unknown) => {
          isOurFault = true;
          throw error;
        });
        if (key === null) throw new Error('no such key');
        return key;
      },
      {
        issuer,
        audience: AUDIENCE,
        typ: TYPE,
        algorithms: [ALGORITHM],
        requiredClaims: ['sub', 'exp', 'iat', 'sid'],
        clockTolerance: toleranceSeconds,
        currentDate: now,
      },
    );
    return claims;
  } catch (error) {
    if (isOurFault) throw error;
    return null; // not a valid token of ours
  }
}

/**
 * Whether a bearer has the form of a token of ours, valid or not: an invalid one is refused, never treated as anonymous.
 * Tokens of this type from other services have another algorithm and another issuer.
 */
function hasTokenForm(bearer: string, issuer: string): boolean {
  const [head, body, signature, ...more] = bearer.split('.');
  if (!head || !body || !signature || more.length > 0) return false;
  const { typ, alg } = tokenPart(head);
  return typ === TYPE && (alg === ALGORITHM || tokenPart(body)['iss'] === issuer);
}

/** One part of a token, unverified; empty when it is no JSON. */
export function tokenPart(text: string): Readonly<Record<string, unknown>> {
  try {
    const part: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return typeof part === 'object' && part !== null ? (part as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {}; // no JSON: a credential of another service
  }
}

/**
 * Refresh tokens: `session.generation.mac`, with a mac over the session's salt. The table holds no token, and the
 * successor of a token can be computed again for a concurrent request. Pure.
 */
interface RefreshTokenParts {
  readonly sessionId: string;
  readonly generation: number;
}

const FORM = /^(ses_[\w-]{1,64})\.([1-9]\d{0,9})\.([\w-]{43})$/;

/** The token of a session's generation. */
export function signRefreshToken(
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
