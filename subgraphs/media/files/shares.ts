import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/**
 * Addresses to be passed on, which end. The id of a file is sealed in them: as it reads the file for good, whoever is
 * given such an address must not learn it.
 */
export interface Shares {
  /** What stands for the id (of a share) in an address that ends then, in milliseconds since 1970. */
  seal(id: string, endsAt: number): string;
  /** The id in it; `ended` when its time is over, null when it is none of ours. */
  open(token: string): { readonly id: string } | 'ended' | null;
}

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const ID_BYTES = 16;
const TIME_BYTES = 8;
/** Of a token in base64url. */
const TOKEN = /^[\w-]{70}$/;

/** Seals with AES-256-GCM below a key that is made of the installation's secret. */
export function createShares({
  secret,
  clock,
}: {
  readonly secret: string;
  readonly clock: () => number;
}): Shares {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'kiln shared file', 32));
  return {
    seal(id, endsAt) {
      const plain = Buffer.alloc(ID_BYTES + TIME_BYTES);
      plain.write(id.replaceAll('-', ''), 'hex');
      plain.writeBigUInt64BE(BigInt(endsAt), ID_BYTES);
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce);
      return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString(
        'base64url',
      );
    },
    open(token) {
      const plain = TOKEN.test(token) ? unsealed(key, Buffer.from(token, 'base64url')) : null;
      if (plain === null) return null;
      if (plain.readBigUInt64BE(ID_BYTES) <= BigInt(clock())) return 'ended';
      const hex = plain.subarray(0, ID_BYTES).toString('hex');
      return { id: hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5') };
    },
  };
}

function unsealed(key: Buffer, sealed: Buffer): Buffer | null {
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch {
    return null;
  }
}
