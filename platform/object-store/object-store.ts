import type { Readable } from 'node:stream';

/** Where files live: on disk by default (disk.ts), S3 when configured. Keys are ours (`media/<id>`), never a caller's. */
export interface ObjectStore {
  /** Streams a body in; nothing is visible under the key before all of it is. Fails with PAYLOAD_TOO_LARGE past `maxBytes`, leaving nothing. */
  put(key: string, body: AsyncIterable<Uint8Array>, options: PutOptions): Promise<StoredObject>;
  /** The object's facts, or null. */
  head(key: string): Promise<StoredObject | null>;
  /** The object's bytes, or those of a range (both ends inclusive). Fails with NOT_FOUND. */
  get(key: string, range?: ByteRange): Promise<Readable>;
  /** Removes the object; absent is fine. */
  delete(key: string): Promise<void>;
  /** An address the browser may fetch by itself (presigned, CDN), or null when our own door must stream it. */
  address(key: string, options: AddressOptions): Promise<string | null>;
  /** Throws UNAVAILABLE when the store can't be written. */
  check(): Promise<void>;
}

export interface PutOptions {
  readonly contentType: string;
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
}

export interface StoredObject {
  readonly key: string;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
  readonly contentType: string;
}

export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

interface AddressOptions {
  /** Seconds the address stays valid, where it expires at all. */
  readonly expiresIn: number;
  /** Name offered when the browser saves it. */
  readonly fileName: string;
}
