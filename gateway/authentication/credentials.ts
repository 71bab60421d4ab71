import { createHash, timingSafeEqual } from 'node:crypto';

import { readBearer } from '../../platform/access/bearer.ts';
import { isObject } from '../../platform/json.ts';

/** Credentials and their identities. */

/** The identity of a credential. */
export interface Identity {
  readonly kind: 'user' | 'key';
  /** `usr_...` or `key_...`. */
  readonly id: string;
  readonly scopes: readonly string[];
  /** The only generators that a key may use; null: any. */
  readonly generators?: readonly string[] | null;
  /** The session of a token. */
  readonly sessionId?: string | null;
  /** When the credential expires. */
  readonly expiresAt?: Date | null;
}

/** Finds the identity of a credential without the word Bearer (caller-cache.ts). */
export type CallerLookup = (credential: string) => Promise<Identity | 'invalid' | null>;

/**
 * Finds the identity of an Authorization value; `invalid` for a credential of our own form that is expired or forged;
 * null when it is not ours.
 */
export type CredentialResolver = (authorization: string) => Promise<Identity | 'invalid' | null>;

/** A key of SERVICE_KEYS: its name, and the sha256 of its secret in hexadecimal. */
export interface BootstrapKey {
  readonly name: string;
  readonly sha256: string;
}

/**
 * Resolves `Bearer <secret>` against the operator's service keys, all compared in constant time (their callers are
 * `key_<name>` with scope `admin`), then looks up the tokens and keys that sign-in has issued. With a supergraph
 * file that has no workflow subgraph of Kiln's there is no sign-in: every other credential is for its subgraphs.
 */
export function createCredentialResolver(options: {
  readonly serviceKeys: readonly BootstrapKey[];
  readonly lookup?: CallerLookup | undefined;
  readonly isForeign?: boolean | undefined;
  /** Other issuers (LEGACY_JWKS, IDP_JWKS), whose tokens are looked up as well. */
  readonly issuers?: readonly string[] | undefined;
}): CredentialResolver {
  const keys = options.serviceKeys.map(({ name, sha256 }) => ({ name, digest: Buffer.from(sha256, 'hex') }));
  return async (authorization) => {
    const secret = readBearer(authorization);
    if (secret === undefined) return null;
    const match = keys.length === 0 ? undefined : matchIn(keys, secret);
    if (match !== undefined) return { kind: 'key', id: `key_${match}`, scopes: ['admin'] };
    if (options.isForeign && options.lookup === undefined) return null;
    const known = isWorthAsking(secret, options.issuers) ? await options.lookup?.(secret) : null;
    return known ?? (hasOurForm(secret) && !options.isForeign ? 'invalid' : null);
  };
}

/** The name of the key that a secret is; every key is compared, in constant time. */
function matchIn(
  keys: readonly { readonly name: string; readonly digest: Buffer }[],
  secret: string,
): string | undefined {
  const digest = createHash('sha256').update(secret).digest();
  let match: string | undefined;
  for (const key of keys) {
    if (key.digest.length === digest.length && timingSafeEqual(key.digest, digest)) match = key.name;
  }
  return match;
}

/** Whether it can be a key or token of ours; nothing else is looked up. */
function isWorthAsking(secret: string, issuers: readonly string[] = []): boolean {
  if (secret.startsWith('kiln_') || readTokenPart(secret, 0)['typ'] === 'at+jwt') return true;
  return issuers.some((issuer) => readTokenPart(secret, 1)['iss'] === issuer);
}

/** Whether it has our form: keys begin with `kiln_`, access tokens are JWS of type `at+jwt` with EdDSA. */
function hasOurForm(secret: string): boolean {
  if (secret.startsWith('kiln_')) return true;
  const { alg, typ } = readTokenPart(secret, 0);
  return alg === 'EdDSA' && typ === 'at+jwt';
}

/** The header (0) or the payload (1) of a JWS; empty for anything else. */
function readTokenPart(secret: string, index: 0 | 1): Readonly<Record<string, unknown>> {
  const parts = secret.split('.');
  if (parts.length !== 3) return {};
  try {
    const part: unknown = JSON.parse(Buffer.from(parts[index] ?? '', 'base64url').toString());
    return isObject(part) ? part : {};
  } catch {
    // Not a JWS, so not ours.
    return {};
  }
}
