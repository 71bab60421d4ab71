import { buffer } from 'node:stream/consumers';

import sharp from 'sharp';

import { AppError, notFound } from '../../../../platform/errors.ts';
import type { ObjectStore } from '../../../../platform/object-store/object-store.ts';
import { thumbnailKey } from './sizes.ts';

/** Thumbnails of pictures: made when they are first asked for, and kept in the object store. */
export interface Thumbnails {
  /** The bytes of a WebP. NOT_FOUND when none can be made of the file, UNAVAILABLE when too many are being made. */
  read(source: ThumbnailSource, width: number): Promise<Buffer>;
}

/** The picture. */
interface ThumbnailSource {
  readonly id: string;
  readonly objectKey: string;
  readonly bytes: number;
}

/** Larger pictures have none: each one that is being made is in memory. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_PIXELS = 100_000_000;
/** How many are made at once, and how many wait at most. */
const MAKERS = 2;
const MAX_WAITING = 500;

/** Makes it over the store of the files. */
export function createThumbnails(store: ObjectStore): Thumbnails {
  const making = new Map<string, Promise<Buffer>>();
  const turns = createTurns();
  return {
    async read(source, width) {
      const key = thumbnailKey(source.id, width);
      if ((await store.head(key)) !== null) return buffer(await store.get(key));
      const running = making.get(key);
      if (running !== undefined) return running;
      const made = turns.run(() => make(store, source, { key, width })).finally(() => making.delete(key));
      making.set(key, made);
      return made;
    },
  };
}

async function make(
  store: ObjectStore,
  { id, objectKey, bytes }: ThumbnailSource,
  { key, width }: { readonly key: string; readonly width: number },
): Promise<Buffer> {
  if (bytes > MAX_BYTES) throw notFound('thumbnail of file', id);
  const picture = await buffer(await store.get(objectKey));
  let made: Buffer;
  try {
    made = await sharp(picture, { limitInputPixels: MAX_PIXELS, failOn: 'error' })
      .autoOrient()
      .resize({ width, withoutEnlargement: true })
      .webp({ quality: 78 })
      .toBuffer();
  } catch (error) {
    throw new AppError('NOT_FOUND', 'no thumbnail can be made of this file', { cause: error });
  }
  await store.put(key, one(made), { contentType: 'image/webp' });
  return made;
}

async function* one(content: Buffer): AsyncGenerator<Buffer> {
  yield content;
}

/** Runs so many at once; the others wait in their order. */
function createTurns() {
  const waiting: (() => void)[] = [];
  let running = 0;
  return {
    async run<Value>(work: () => Promise<Value>): Promise<Value> {
      if (waiting.length >= MAX_WAITING) {
        throw new AppError('UNAVAILABLE', 'too many thumbnails are being made', { retryAfter: 5 });
      }
      if (running >= MAKERS) await new Promise<void>((resolve) => waiting.push(resolve));
      else running += 1;
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next === undefined) running -= 1;
        else next();
      }
    },
  };
}
