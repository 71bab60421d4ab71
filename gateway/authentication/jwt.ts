import { createHash } from 'node:crypto';

import { decodeJwt, jwtVerify, type JWTPayload } from 'jose';
import { LRUCache } from 'lru-cache';

import { createKeySet, isRefusedToken, SIGNATURE_ALGORITHMS } from '../../platform/access/key-set.ts';
import { AppError } from '../../platform/errors.ts';
import type { HttpClient } from '../../platform/http/http-client.ts';
import { once } from '../../platform/once.ts';

/** An issuer whose tokens are taken. */
export interface Issuer {
  /** The claim `iss`. */
  readonly issuer: string;
  /** Where its keys are. */
  readonly jwks: string;
  /** One of these must be the claim `aud`; absent: any. */
  readonly audiences?: readonly string[] | undefined;
  /** Signatures that are taken (default: all that need a public key). */
  readonly algorithms?: readonly string[] | undefined;
}

interface TokenOwner {
  /** `jwt_` and a hash of issuer and subject. */
  readonly id: string;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly expiresAt: Date;
}

/** Verifies a token. Throws UNAUTHENTICATED for one of no issuer, UNAVAILABLE while the keys can't be had. */
export type VerifyToken = (token: string) => Promise<TokenOwner>;

const CLOCK_SECONDS = 30;
const MAX_LENGTH = 16_000;
/** Estimated bytes of verified tokens and their claims that are kept. */
const MAX_KNOWN_BYTES = 32_000_000;
/** Milliseconds in which a token's signature is checked once. */
const KNOWN_MS = 60_000;

/** Makes the verifier of these issuers, whose keys are fetched with `http`. */
export function createTokenVerifier(issuers: readonly Issuer[], http: HttpClient): VerifyToken {
  const byName = new Map(
    issuers.map((one) => [one.issuer, { ...one, keys: once(() => createKeySet(http, one.jwks)) }]),
  );
  const known = new LRUCache<string, TokenOwner>({
    maxSize: MAX_KNOWN_BYTES,
    // The claims are a part of the token.
    sizeCalculation: (_, token) => 2 * token.length,
    ttl: KNOWN_MS,
  });
  return async (token) => {
    const found = known.get(token);
    if (found !== undefined && found.expiresAt.getTime() > Date.now()) return found;
    if (token.length > MAX_LENGTH) throw refused('the token is too long');
    const issuer = byName.get(readIssuer(token) ?? '');
    if (issuer === undefined) throw refused('no issuer that is known here has made this token');
    const { issuer: name, keys, audiences, algorithms = SIGNATURE_ALGORITHMS } = issuer;
    let claims: JWTPayload;
    try {
      const verified = await jwtVerify(token, await keys(), {
        issuer: name,
        ...(audiences !== undefined && { audience: [...audiences] }),
        algorithms: [...algorithms],
        clockTolerance: CLOCK_SECONDS,
        requiredClaims: ['exp', 'sub'],
      });
      claims = verified.payload;
    } catch (cause) {
      if (await isRefusedToken(cause)) throw refused('the token is expired or not valid here', cause);
      throw new AppError('UNAVAILABLE', "the issuer's keys can not be had now", { retryAfter: 5, cause });
    }
    const { sub = '', exp = 0 } = claims;
    const id = `jwt_${createHash('sha256').update(`${name}\n${sub}`).digest('hex').slice(0, 32)}`;
    const owner = { id, claims, expiresAt: new Date(exp * 1_000) };
    known.set(token, owner);
    return owner;
  };
}

function readIssuer(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    // Not a JWT.
    return undefined;
  }
}

function refused(message: string, cause?: unknown): AppError {
  return new AppError('UNAUTHENTICATED', message, cause === undefined ? {} : { cause });
}
