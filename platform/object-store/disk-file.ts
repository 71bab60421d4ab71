import type { FileHandle } from 'node:fs/promises';

import type { StoredObject } from './object-store.ts';

/**
 * The format of one object on disk: its bytes, then its metadata as JSON, then the length of that JSON and a mark. One
 * file means one rename, so that bytes and metadata can't disagree after a crash.
 */

const MARK = Buffer.from('KILN');
const TAIL_BYTES = 4 + MARK.length;
const MAX_METADATA_BYTES = 16_384;

/** The metadata after the bytes of an object. */
export function footerOf(metadata: StoredObject): Buffer {
  const text = Buffer.from(JSON.stringify(metadata));
  if (text.length > MAX_METADATA_BYTES) throw new RangeError('the key or type of an object is too long');
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length);
  return Buffer.concat([text, length, MARK]);
}

/** Reads the metadata. Throws when the file is not one of our objects, or is damaged. */
export async function readFooter(handle: FileHandle): Promise<StoredObject> {
  const { size } = await handle.stat();
  const tail = await readExactly(handle, size - TAIL_BYTES, TAIL_BYTES);
  const length = tail.readUInt32BE(0);
  if (!tail.subarray(4).equals(MARK) || length > MAX_METADATA_BYTES) throw damaged();
  const text = await readExactly(handle, size - TAIL_BYTES - length, length);
  const metadata = JSON.parse(text.toString()) as StoredObject;
  if (metadata.bytes !== size - TAIL_BYTES - length) throw damaged();
  return metadata;
}

async function readExactly(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  if (position < 0) throw damaged();
  const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(length), position });
  if (bytesRead !== length) throw damaged();
  return buffer;
}

function damaged(): Error {
  return new Error('this file of the object store is damaged');
}
