import type { JWTVerifyGetKey } from 'jose';

import type { HttpClient } from '../http/http-client.ts';

/** Algorithms of signatures that are checked with a public key: a shared secret could be the public key itself. */
export const SIGNATURE_ALGORITHMS = [
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
] as const;

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 256 * 1024;
/** jose's errors when the key set can't be fetched. */
const OUTAGES: ReadonlySet<string> = new Set(['ERR_JWKS_TIMEOUT', 'ERR_JOSE_GENERIC', 'ERR_JWKS_INVALID']);

/**
 * The public keys of an issuer at the address of its JWKS, fetched when a token first needs them and again by jose, through the
 * outbound rule; the address is an operator's, so its origin is trusted. A key lookup throws the client's HttpFailure, or jose's errors.
 */
export async function createKeySet(http: HttpClient, address: string): Promise<JWTVerifyGetKey> {
  // Loaded only when needed.
  const { createRemoteJWKSet, customFetch } = await import('jose');
  const trustedOrigins = [new URL(address).origin];
  return createRemoteJWKSet(new URL(address), {
    timeoutDuration: TIMEOUT_MS,
    [customFetch]: async (url: string) => {
      const { status, body } = await http.request({
        method: 'GET',
        url,
        headers: { accept: 'application/json' },
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_BYTES,
        retry: 'safe',
        trustedOrigins,
      });
      return new Response(new Uint8Array(body), { status });
    },
  });
}

/** Whether jose refused a token: its other errors, and those of the client, mean that the keys can't be had now. */
export async function isRefusedToken(error: unknown): Promise<boolean> {
  const { errors } = await import('jose');
  return error instanceof errors.JOSEError && !OUTAGES.has(error.code);
}
