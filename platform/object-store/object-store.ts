import type { Readable } from 'node:stream';

/** Where files live: on disk by default (disk.ts), S3 when configured. Keys are ours (`media/<id>`), never a caller's. */
export interface ObjectStore {
  /** Streams a body in; nothing is visible under the key before all of it is. Fails with PAYLOAD_TOO_LARGE past `maxBytes`, leaving nothing. */
  put(key: string, body: AsyncIterable<Uint8Array>, options: PutOptions): Promise<StoredObject>;
  /** The object's facts, or null when there is none. */
  head(key: string): Promise<ObjectFacts | null>;
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
  /** Content-Disposition of an answer that the store gives by itself, without our door (a CDN before a bucket). */
  readonly contentDisposition?: string;
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
}

/** What is known of an object once all its bytes are in. */
export interface StoredObject {
  readonly key: string;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
  readonly contentType: string;
}

/** What a store knows of an object by itself. */
interface ObjectFacts extends Omit<StoredObject, 'sha256'> {
  /** Hexadecimal; null where the store does not keep it (S3 knows it of no object that came in parts). */
  readonly sha256: string | null;
}

/** Bytes from `start` to `end`, both included, as in HTTP. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface AddressOptions {
  /** Seconds the address stays valid, where it expires at all. */
  readonly expiresIn: number;
  /** Content-Type of the answer, where the store lets an address say so; the stored type otherwise. */
  readonly contentType?: string;
  /** Content-Disposition of the answer, with the name offered when the browser saves it; likewise. */
  readonly contentDisposition?: string;
}
