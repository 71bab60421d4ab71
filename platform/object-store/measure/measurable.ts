import type { Readable } from 'node:stream';

import type { ByteRange } from '../object-store.ts';

/** A stored file that can be read in pieces. */
export interface Measurable {
  /** Opens the bytes, or those of a range (both ends inclusive). */
  open(range?: ByteRange): Promise<Readable>;
  readonly bytes: number;
  /** What the sender said it is; believed only for texts, and only when the bytes are one. */
  readonly declaredType: string | null;
  /** File name; its ending counts where no type is declared. */
  readonly name: string;
}

/** What a file really is. Facts that it does not have, or that can't be read, are null. */
export interface Measures {
  readonly contentType: string;
  /** Pixels as shown, after any rotation that the file asks for. */
  readonly width: number | null;
  readonly height: number | null;
  /** Seconds. */
  readonly duration: number | null;
}

/** The bytes of a range in memory: only for ranges that are known to be small. */
export async function readRange(file: Pick<Measurable, 'open'>, range: ByteRange): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await file.open(range)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
