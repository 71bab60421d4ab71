import { createRemoteJWKSet, customFetch, jwtVerify, type JWTPayload } from 'jose';
import type { CustomFetch } from 'openid-client';

import { isRefusedToken } from '../../../../platform/access/key-set.ts';
import { AppError } from '../../../../platform/errors.ts';

/** The rules for ID tokens of native apps. */
export interface IdTokenRules {
  readonly issuer: string;
  readonly jwksUri: string | null;
  /** Our client ids: tokens for other apps are refused. */
  readonly audiences: readonly string[];
  readonly fetch: CustomFetch;
}

const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];
/** Native apps may send the ID token of an earlier sign-in. */
const MAX_AGE = '1h';
const CLOCK_SECONDS = 30;
const MAX_LENGTH = 16_384;
const TIMEOUT_MS = 5_000;

/** Google's older tokens name their issuer without its scheme. */
function listIssuers(issuer: string): string[] {
  return issuer === 'https://accounts.google.com' ? [issuer, 'accounts.google.com'] : [issuer];
}

/** The key set of each provider, by its fetch; jose refreshes each by itself. */
const keySets = new WeakMap<CustomFetch, ReturnType<typeof createRemoteJWKSet>>();

/** The claims of a valid token. UNAUTHENTICATED, or UNAVAILABLE when the keys can't be fetched. */
export async function verifyIdToken(
  { idToken, nonce }: { readonly idToken: string; readonly nonce: string | null },
  rules: IdTokenRules,
): Promise<JWTPayload> {
  if (rules.jwksUri === null) throw invalid('this identity provider has no ID tokens');
  if (idToken.length > MAX_LENGTH) throw invalid('the ID token is too long');
  let claims: JWTPayload;
  try {
    const verified = await jwtVerify(idToken, createKeySet(rules.jwksUri, rules.fetch), {
      issuer: listIssuers(rules.issuer),
      audience: [...rules.audiences],
      algorithms: ALGORITHMS,
      maxTokenAge: MAX_AGE,
      clockTolerance: CLOCK_SECONDS,
      requiredClaims: ['sub', 'exp', 'iat'],
    });
    claims = verified.payload;
  } catch (error) {
    if (await isRefusedToken(error)) throw invalid('the ID token is not valid', error);
    throw new AppError('UNAVAILABLE', 'the keys of the identity provider can not be had now', {
      retryAfter: 5,
      cause: error,
    });
  }
  const { aud, azp } = claims as { readonly aud?: unknown; readonly azp?: unknown };
  if (Array.isArray(aud) && aud.length > 1 && !rules.audiences.includes(String(azp))) {
    throw invalid('the ID token was made for another app');
  }
  if (nonce !== null && claims['nonce'] !== nonce) throw invalid('the ID token has another nonce');
  return claims;
}

function createKeySet(uri: string, fetch: CustomFetch) {
  const known = keySets.get(fetch);
  if (known !== undefined) return known;
  const made = createRemoteJWKSet(new URL(uri), {
    timeoutDuration: TIMEOUT_MS,
    [customFetch]: (url, { method, headers, signal }) =>
      fetch(url, {
        method,
        headers: Object.fromEntries(headers),
        signal,
        body: undefined,
        redirect: 'manual',
      }),
  });
  keySets.set(fetch, made);
  return made;
}

function invalid(message: string, cause?: unknown): AppError {
  return new AppError('UNAUTHENTICATED', message, cause === undefined ? {} : { cause });
}
