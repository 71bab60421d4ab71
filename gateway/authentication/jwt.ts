import { createHash } from 'node:crypto';

import { createRemoteJWKSet, customFetch, decodeJwt, errors, jwtVerify, type JWTPayload } from 'jose';
import { LRUCache } from 'lru-cache';
import { request } from 'undici';

import { AppError } from '../../platform/errors.ts';

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

/** Whose a token is. */
interface TokenOwner {
  /** `jwt_` and a hash of issuer and subject. */
  readonly id: string;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly expiresAt: Date;
}

/** Verifies a token. Throws UNAUTHENTICATED for one of no issuer, UNAVAILABLE while the keys can't be had. */
export type VerifyToken = (token: string) => Promise<TokenOwner>;

const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const CLOCK_SECONDS = 30;
const MAX_LENGTH = 16_000;
const KEYS_MS = 5_000;
const MAX_KEY_BYTES = 1_000_000;
/** Tokens that were verified, so that a signature is checked once in this time. */
const MAX_KNOWN = 10_000;
const KNOWN_MS = 60_000;
const OUTAGES = new Set(['ERR_JWKS_TIMEOUT', 'ERR_JOSE_GENERIC', 'ERR_JWKS_INVALID']);

/** Makes the verifier of these issuers. */
export function createTokenVerifier(issuers: readonly Issuer[]): VerifyToken {
  const byName = new Map(issuers.map((one) => [one.issuer, { ...one, keys: keySetOf(one.jwks) }]));
  const known = new LRUCache<string, TokenOwner>({ max: MAX_KNOWN, ttl: KNOWN_MS });
  return async (token) => {
    const found = known.get(token);
    if (found !== undefined && found.expiresAt.getTime() > Date.now()) return found;
    if (token.length > MAX_LENGTH) throw refused('the token is too long');
    const issuer = byName.get(issuerOf(token) ?? '');
    if (issuer === undefined) throw refused('no issuer that is known here has made this token');
    const { issuer: name, keys, audiences, algorithms = ALGORITHMS } = issuer;
    let claims: JWTPayload;
    try {
      const verified = await jwtVerify(token, keys, {
        issuer: name,
        ...(audiences !== undefined && { audience: [...audiences] }),
        algorithms: [...algorithms],
        clockTolerance: CLOCK_SECONDS,
        requiredClaims: ['exp', 'sub'],
      });
      claims = verified.payload;
    } catch (cause) {
      if (cause instanceof errors.JOSEError && !OUTAGES.has(cause.code))
        throw refused('the token is expired or not valid here', cause);
      throw new AppError('UNAVAILABLE', "the issuer's keys can not be had now", { retryAfter: 5, cause });
    }
    const { sub = '', exp = 0 } = claims;
    const id = `jwt_${createHash('sha256').update(`${name}\n${sub}`).digest('hex').slice(0, 32)}`;
    const owner = { id, claims, expiresAt: new Date(exp * 1_000) };
    known.set(token, owner);
    return owner;
  };
}

function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    // Not a JWT.
    return undefined;
  }
}

/** The keys at an address; jose refreshes them by itself. */
function keySetOf(address: string) {
  return createRemoteJWKSet(new URL(address), {
    timeoutDuration: KEYS_MS,
    [customFetch]: async (url, { headers, signal }) => {
      const { statusCode, body } = await request(url, { headers: Object.fromEntries(headers), signal });
      const chunks: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of body) {
        bytes += (chunk as Buffer).length;
        if (bytes > MAX_KEY_BYTES)
          throw new Error(`the keys at ${url} have more than ${MAX_KEY_BYTES} bytes`);
        chunks.push(chunk as Buffer);
      }
      return new Response(Buffer.concat(chunks), { status: statusCode });
    },
  });
}

function refused(message: string, cause?: unknown): AppError {
  return new AppError('UNAUTHENTICATED', message, cause === undefined ? {} : { cause });
}
