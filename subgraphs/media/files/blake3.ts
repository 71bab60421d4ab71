/** The BLAKE3 of bytes while they are stored. */

/** A body that is hashed while it is read, and its hash afterwards. */
export interface HashedBody {
  readonly body: AsyncIterable<Uint8Array>;
  /** Hexadecimal; of what was read so far. */
  readonly digest: () => string;
}

/** Hashes a body on its way. Its library is loaded only for callers who ask for this hash. */
export async function hashedBody(body: AsyncIterable<Uint8Array>): Promise<HashedBody> {
  const { createBLAKE3 } = await import('hash-wasm');
  const hasher = await createBLAKE3();
  hasher.init();
  return { body: hashing(body, hasher), digest: () => hasher.digest() };
}

async function* hashing(
  body: AsyncIterable<Uint8Array>,
  hasher: { readonly update: (bytes: Uint8Array) => unknown },
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    hasher.update(chunk);
    yield chunk;
  }
}
