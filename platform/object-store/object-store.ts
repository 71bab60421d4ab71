import type { Readable } from 'node:stream';

/** Storage of files: on disk by default (disk.ts), S3 when configured. Keys are ours (`media/<id>`). */
export interface ObjectStore {
  /** Stores a stream, visible when it is complete. Fails with PAYLOAD_TOO_LARGE past `maxBytes`, leaving nothing. */
  put(key: string, body: AsyncIterable<Uint8Array>, options: PutOptions): Promise<StoredObject>;
  /** The object's metadata, or null when there is none. */
  head(key: string): Promise<ObjectMetadata | null>;
  /** The object's bytes, or those of a range (both ends inclusive). Fails with NOT_FOUND. */
  get(key: string, range?: ByteRange): Promise<Readable>;
  /** Deletes the object, if there is one. */
  delete(key: string): Promise<void>;
  /** A URL that browsers may fetch directly (presigned, CDN), or null when our server must stream the file. */
  address(key: string, options: AddressOptions): Promise<string | null>;
  /** Throws UNAVAILABLE when the store can't be written. */
  check(): Promise<void>;
}

export interface PutOptions {
  readonly contentType: string;
  /** Content-Disposition of responses of the store itself (a CDN before a bucket). */
  readonly contentDisposition?: string;
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
}

/** Metadata of a stored object. */
export interface StoredObject {
  readonly key: string;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
  readonly contentType: string;
}

/** Metadata that a store has by itself. */
interface ObjectMetadata extends Omit<StoredObject, 'sha256'> {
  /** Hexadecimal; null where the store does not keep it (S3, for an object uploaded in parts). */
  readonly sha256: string | null;
}

/** Bytes from `start` to `end`, both included, as in HTTP. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface AddressOptions {
  /** Seconds that the URL stays valid, where it expires. */
  readonly expiresIn: number;
  /** Content-Type of the response, where a URL can set it; the stored type otherwise. */
  readonly contentType?: string;
  /** Content-Disposition of the response, with the name offered when the browser saves it; likewise. */
  readonly contentDisposition?: string;
}
