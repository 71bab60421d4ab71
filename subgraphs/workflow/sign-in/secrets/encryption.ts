import { hkdfSync } from 'node:crypto';

import type { Json } from '../../../../platform/json.ts';

/**
 * Authenticated encryption (AEAD, A256GCM) of cookies and of other services' tokens in the database. Each purpose has a key
 * of its own, so that a value encrypted for one purpose is invalid for another.
 */
export type Encryption = ReturnType<typeof createEncryption>;

const HEADER = { alg: 'dir', enc: 'A256GCM' } as const;
/** Longest value that is decrypted. */
const MAX_LENGTH = 16_384;

/** A key of 32 bytes for one purpose. */
export function keyFor(secret: string, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, 'kiln', purpose, 32));
}

/** Creates the encryption of one purpose from the installation's secret. */
export function createEncryption(secret: string, purpose: string) {
  const key = keyFor(secret, purpose);
  return {
    /** The value as JSON. */
    async encrypt(value: object | string): Promise<string> {
      // Loaded only when needed.
      const { CompactEncrypt } = await import('jose');
      return new CompactEncrypt(new TextEncoder().encode(JSON.stringify(value)))
        .setProtectedHeader(HEADER)
        .encrypt(key);
    },
    /** Null for a value that was not encrypted here for this purpose, or was changed. */
    async decrypt(sealed: string): Promise<Json | null> {
      if (sealed.length > MAX_LENGTH) return null;
      const { compactDecrypt } = await import('jose');
      try {
        const { plaintext } = await compactDecrypt(sealed, key, {
          keyManagementAlgorithms: [HEADER.alg],
          contentEncryptionAlgorithms: [HEADER.enc],
        });
        return JSON.parse(new TextDecoder().decode(plaintext)) as Json;
      } catch {
        return null; // forged, foreign or truncated
      }
    },
  };
}
