import { createHash, timingSafeEqual } from 'node:crypto';

/** Credentials, and who they stand for. */

/** What a credential stands for. */
export interface Identity {
  readonly kind: 'user' | 'key';
  /** `usr_...` or `key_...`. */
  readonly id: string;
  readonly scopes: readonly string[];
  /** The session of a token. */
  readonly sessionId?: string | null;
  /** When the credential ends by itself. */
  readonly expiresAt?: Date | null;
}

/** Asks who a credential stands for, without the word Bearer (known-callers.ts). */
export type CallerLookup = (credential: string) => Promise<Identity | 'invalid' | null>;

/**
 * Finds out what an Authorization value stands for: an identity; `invalid` when it has the form of our own credentials
 * but is expired or forged; null when it is not ours at all.
 */
export type CredentialResolver = (authorization: string) => Promise<Identity | 'invalid' | null>;

/** A key of the setting SERVICE_KEYS: its name, and the sha256 of its secret in hexadecimal. */
export interface BootstrapKey {
  readonly name: string;
  readonly sha256: string;
}

/**
 * Resolves `Bearer <secret>` against the operator's service keys, comparing with all of them in constant time (such a key
 * is `key_<name>` and has scope `admin`: it is what the operator gave out to set the service up), then asks for whom the
 * tokens and keys stand that sign-in has issued.
 */
export function createCredentialResolver(options: {
  readonly serviceKeys: readonly BootstrapKey[];
  readonly lookup?: CallerLookup | undefined;
}): CredentialResolver {
  const keys = options.serviceKeys.map(({ name, sha256 }) => ({ name, digest: Buffer.from(sha256, 'hex') }));
  return async (authorization) => {
    const secret = bearerOf(authorization);
    if (secret === undefined) return null;
    const digest = createHash('sha256').update(secret).digest();
    let match: string | undefined;
    for (const key of keys) {
      if (key.digest.length === digest.length && timingSafeEqual(key.digest, digest)) match = key.name;
    }
    if (match !== undefined) return { kind: 'key', id: `key_${match}`, scopes: ['admin'] };
    const known = isWorthAsking(secret) ? await options.lookup?.(secret) : null;
    return known ?? (hasOurForm(secret) ? 'invalid' : null);
  };
}

/** The secret of a `Bearer` value; undefined for any other. */
export function bearerOf(authorization: string): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
}

/** Keys of ours, and tokens of the type of ours; nothing else leaves this process. */
function isWorthAsking(secret: string): boolean {
  return secret.startsWith('kiln_') || headerOf(secret)['typ'] === 'at+jwt';
}

/** Keys that Kiln makes begin with `kiln_`; its access tokens are JWS of type `at+jwt`, signed with EdDSA. */
function hasOurForm(secret: string): boolean {
  if (secret.startsWith('kiln_')) return true;
  const { alg, typ } = headerOf(secret);
  return alg === 'EdDSA' && typ === 'at+jwt';
}

/** The header of a JWS; empty for anything else. */
function headerOf(secret: string): Readonly<Record<string, unknown>> {
  const parts = secret.split('.');
  if (parts.length !== 3) return {};
  try {
    const header: unknown = JSON.parse(Buffer.from(parts[0] ?? '', 'base64url').toString());
    return isRecord(header) ? header : {};
  } catch {
    // Three dotted parts that are no JWS: not ours.
    return {};
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
