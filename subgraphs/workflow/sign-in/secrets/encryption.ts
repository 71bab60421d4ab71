import { hkdfSync } from 'node:crypto';

import { compactDecrypt, CompactEncrypt } from 'jose';

import type { Json } from '../../../../platform/json.ts';

/**
 * Seals values that leave our hands (cookies) or lie in the database (other people's tokens): encrypted and
 * authenticated, each purpose under a key of its own, so that what was sealed for one is nothing for another.
 */
export interface Encryption {
  /** The value as JSON. */
  encrypt(value: object | string): Promise<string>;
  /** Null when it was not sealed here, for this, or was changed. */
  decrypt(sealed: string): Promise<Json | null>;
}

const HEADER = { alg: 'dir', enc: 'A256GCM' } as const;
/** Longer than anything sealed here; what is longer is not even decrypted. */
const MAX_LENGTH = 16_384;

/** A key of 32 bytes for one purpose. */
export function keyFor(secret: string, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, 'kiln', purpose, 32));
}

/** A encryption for one purpose under the installation's secret. */
export function createEncryption(secret: string, purpose: string): Encryption {
  const key = keyFor(secret, purpose);
  return {
    encrypt: (value) =>
      new CompactEncrypt(new TextEncoder().encode(JSON.stringify(value)))
        .setProtectedHeader(HEADER)
        .encrypt(key),
    async decrypt(sealed) {
      if (sealed.length > MAX_LENGTH) return null;
      try {
        const { plaintext } = await compactDecrypt(sealed, key, {
          keyManagementAlgorithms: [HEADER.alg],
          contentEncryptionAlgorithms: [HEADER.enc],
        });
        return JSON.parse(new TextDecoder().decode(plaintext)) as Json;
      } catch {
        return null; // forged, foreign or cut: all the same to whoever sent it
      }
    },
  };
}
