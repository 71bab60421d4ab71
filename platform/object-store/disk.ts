import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, opendir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';

import { AppError, notFound } from '../errors.ts';
import { once } from '../once.ts';
import type { ByteRange, ObjectStore, PutOptions, StoredObject } from './object-store.ts';
import { drain } from './streams.ts';

export interface DiskStoreOptions {
  /** Holds `objects/` and `incoming/`; created when absent. Several processes may share it. */
  readonly directory: string;
}

/** Age of an incoming file without writes after which its process counts as dead. */
const LEFTOVER_AFTER_MS = 3_600_000;
const READ_CHUNK_BYTES = 256 * 1024;

/** The object store on disk: a file per object, complete or absent, also after a power failure. */
export function createDiskStore({ directory }: DiskStoreOptions): ObjectStore {
  const incoming = path.join(directory, 'incoming');
  const prepared = once(() => prepare(incoming).catch(failWriting));
  const hashPath = (key: string) => {
    const hash = createHash('sha256').update(key).digest('hex');
    return path.join(directory, 'objects', hash.slice(0, 2), hash);
  };
  return {
    async put(key, body, options) {
      await prepared();
      const temporary = path.join(incoming, randomUUID());
      try {
        const stored = await writeObject(temporary, key, body, options);
        await moveIntoPlace(temporary, hashPath(key)).catch(failWriting);
        return stored;
      } finally {
        await rm(temporary, { force: true });
      }
    },
    async head(key) {
      const handle = await openObject(hashPath(key));
      if (handle === null) return null;
      await using _closing = handle;
      return await readFooter(handle);
    },
    async get(key, range) {
      const handle = await openObject(hashPath(key));
      if (handle === null) throw notFound('file', key);
      return openStream(handle, range);
    },
    async delete(key) {
      await rm(hashPath(key), { force: true });
    },
    address: async () => null,
    async check() {
      await prepared();
      const probe = path.join(incoming, randomUUID());
      try {
        await using handle = await open(probe, 'wx');
        await handle.writeFile('x');
      } catch (error) {
        throw unavailable(error);
      } finally {
        await rm(probe, { force: true });
      }
    },
  };
}

async function prepare(incoming: string): Promise<void> {
  await mkdir(incoming, { recursive: true });
  for await (const entry of await opendir(incoming)) {
    const file = path.join(incoming, entry.name);
    const found = await stat(file).catch(absent);
    if (found !== null && Date.now() - found.mtimeMs > LEFTOVER_AFTER_MS) await rm(file, { force: true });
  }
}

async function writeObject(
  file: string,
  key: string,
  body: AsyncIterable<Uint8Array>,
  { contentType, maxBytes = Number.MAX_SAFE_INTEGER, signal }: PutOptions,
): Promise<StoredObject> {
  await using handle = await open(file, 'wx').catch(failWriting);
  const hash = createHash('sha256');
  let bytes = 0;
  await drain(body, signal, async (chunk) => {
    bytes += chunk.byteLength;
    if (bytes > maxBytes)
      throw new AppError('PAYLOAD_TOO_LARGE', `the file is larger than ${maxBytes} bytes`);
    hash.update(chunk);
    await written(handle, chunk);
  });
  const stored = { key, bytes, sha256: hash.digest('hex'), contentType };
  await written(handle, writeFooter(stored));
  await handle.sync().catch(failWriting);
  return stored;
}

async function written(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  await handle.writeFile(chunk).catch(failWriting);
}

/** Flushes the directory after the rename: otherwise a power failure could lose the name. */
async function moveIntoPlace(temporary: string, target: string): Promise<void> {
  const folder = path.dirname(target);
  await mkdir(folder, { recursive: true });
  await rename(temporary, target);
  await using handle = await open(folder, 'r');
  await handle.sync();
}

async function openObject(file: string): Promise<FileHandle | null> {
  return open(file, 'r').catch(absent);
}

/** The handle stays with this version of the object, even when it is replaced or deleted. */
async function openStream(handle: FileHandle, range: ByteRange | undefined): Promise<Readable> {
  try {
    const { bytes } = await readFooter(handle);
    const start = range?.start ?? 0;
    const end = Math.min(range?.end ?? bytes - 1, bytes - 1);
    if (start <= end) return handle.createReadStream({ start, end, highWaterMark: READ_CHUNK_BYTES });
    if (range !== undefined)
      throw new AppError('BAD_USER_INPUT', 'there are no bytes in this range', { field: 'range' });
    await handle.close();
    return Readable.from([]);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

function failWriting(cause: unknown): never {
  throw unavailable(cause);
}

function unavailable(cause: unknown): AppError {
  return new AppError('UNAVAILABLE', "the file store can't be written", { cause });
}

/**
 * The format of one object on disk: its bytes, then its metadata as JSON, then the length of that JSON and a mark. One
 * file means one rename, so that bytes and metadata can't disagree after a crash.
 */

const MARK = Buffer.from('KILN');
const TAIL_BYTES = 4 + MARK.length;
const MAX_METADATA_BYTES = 16_384;

/** The metadata after the bytes of an object. */
function writeFooter(metadata: StoredObject): Buffer {
  const text = Buffer.from(JSON.stringify(metadata));
  if (text.length > MAX_METADATA_BYTES) throw new RangeError('the key or type of an object is too long');
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length);
  return Buffer.concat([text, length, MARK]);
}

/** Reads the metadata. Throws when the file is not one of our objects, or is damaged. */
async function readFooter(handle: FileHandle): Promise<StoredObject> {
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
