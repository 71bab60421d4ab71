import type { Readable } from 'node:stream';

import type { ByteRange } from '../object-store.ts';

/** A stored file that can be read in pieces. */
export interface Measurable {
  /** Opens the bytes, or those of a range (both ends inclusive). */
  open(range?: ByteRange): Promise<Readable>;
  readonly bytes: number;
  /** The declared type; trusted only for texts, when the bytes are text, and for samples without a header: audio/pcm. */
  readonly declaredType: string | null;
  /** File name; its extension counts where no type is declared. */
  readonly name: string;
}

/** The measured properties of a file; null where it has none, or they can't be read. */
export interface Measures {
  readonly contentType: string;
  /** Pixels as displayed, after the rotation that the file asks for. */
  readonly width: number | null;
  readonly height: number | null;
  /** Seconds. */
  readonly duration: number | null;
}

/** Reads a range into memory: only for small ranges. */
export async function readRange(file: Pick<Measurable, 'open'>, range: ByteRange): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await file.open(range)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Messages to the thread that measures recordings. */
export type ToMeasurer =
  | { readonly kind: 'measure'; readonly bytes: number; readonly contentType: string }
  /** The response to a `read`; null when the file could not be read. */
  | { readonly kind: 'range'; readonly read: number; readonly content: Uint8Array | null };

/** Messages of the thread: a range it wants to read, and finally the measures. */
export type FromMeasurer =
  | { readonly kind: 'read'; readonly read: number; readonly start: number; readonly end: number }
  | { readonly kind: 'measured'; readonly measures: Measures };
