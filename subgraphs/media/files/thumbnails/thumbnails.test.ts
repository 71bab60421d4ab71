import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import sharp, { type Sharp } from 'sharp';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { AppError } from '../../../../platform/errors.ts';
import { createDiskStore } from '../../../../platform/object-store/disk.ts';
import type { ObjectStore } from '../../../../platform/object-store/object-store.ts';
import { thumbnailKey } from './sizes.ts';
import { createThumbnails } from './thumbnails.ts';

let folder: string;
let store: ObjectStore;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'kiln-thumbnails-'));
  store = createDiskStore({ directory: folder });
});
afterAll(() => rm(folder, { recursive: true }));

/** An image of somebody's, with the size that its file claims. */
async function storeImage(
  owner: string,
  id: string,
  claims: { width: number; height: number } | null = null,
) {
  const content = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#888' } })
    .png()
    .toBuffer();
  async function* body() {
    yield content;
  }
  await store.put(id, body(), { contentType: 'image/png' });
  const [width, height] = claims === null ? [8, 8] : [claims.width, claims.height];
  return { id, owner, objectKey: id, bytes: content.length, contentType: 'image/png', width, height };
}

it('are made for each person in turn and one at a time, however many one of them asks for', async () => {
  const begun: string[] = [];
  const open = new Set<string>();
  const atOnce = { ann: 0, all: 0 };
  const watched: ObjectStore = {
    ...store,
    get: (key, ...rest) => {
      begun.push(key);
      open.add(key);
      const ofAnn = [...open].filter((one) => one.startsWith('a')).length;
      atOnce.ann = Math.max(atOnce.ann, ofAnn);
      atOnce.all = Math.max(atOnce.all, open.size);
      return store.get(key, ...rest);
    },
    put: (key, ...rest) => {
      open.delete(key.split('/')[1] ?? '');
      return store.put(key, ...rest);
    },
  };
  const thumbnails = createThumbnails(watched, null);
  const own = await Promise.all(['a1', 'a2', 'a3', 'a4', 'a5', 'a6'].map((id) => storeImage('ann', id)));
  const others = await Promise.all([
    storeImage('ben', 'b1'),
    storeImage('cat', 'c1'),
    storeImage('dan', 'd1'),
  ]);
  // Each looks first whether it is there already: they wait in the order in which they were asked for.
  const made = [...own, ...others].map((one) => thumbnails.read(one, 64));
  await Promise.all(made);
  expect(begun.slice(0, 6)).toEqual(expect.arrayContaining(['b1', 'c1', 'd1']));
  expect(begun).toHaveLength(9);
  expect(atOnce).toEqual({ ann: 1, all: 2 });
});

it('leave nothing behind when their file is removed while they are made', async () => {
  const source = await storeImage('ann', 'leaving');
  const watched: ObjectStore = {
    ...store,
    // As somebody deletes the file: its bytes first, then its thumbnails.
    put: async (key, ...rest) => {
      await store.delete(source.objectKey);
      await store.delete(key);
      return store.put(key, ...rest);
    },
  };
  await expect(createThumbnails(watched, null).read(source, 64)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(await store.head(thumbnailKey('leaving', 64))).toBeNull();
});

it('are not refused for good while their file can not be read: the store says why', async () => {
  const source = await storeImage('ann', 'away');
  const away: ObjectStore = {
    ...store,
    get: () => Promise.reject(new AppError('UNAVAILABLE', 'the object storage does not answer')),
  };
  await expect(createThumbnails(away, null).read(source, 64)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

it('are made of large images that are read row by row, and not of what takes too much memory', async () => {
  const [width, height] = [5_100, 5_000];
  const drawn = sharp({ create: { width, height, channels: 3, background: '#888' } });
  const thumbnails = createThumbnails(store, null);
  const made = async (id: string, image: Pick<Sharp, 'toBuffer'> | Buffer) => {
    const content = Buffer.isBuffer(image) ? image : await image.toBuffer();
    async function* body() {
      yield content;
    }
    await store.put(id, body(), { contentType: 'image/png' });
    const source = { id, owner: 'ann', objectKey: id, bytes: content.length, contentType: 'image/png' };
    return thumbnails.read({ ...source, width, height }, 64);
  };
  expect(
    await sharp(await made('rows', drawn.clone().png({ compressionLevel: 1 }))).metadata(),
  ).toMatchObject({
    format: 'webp',
    width: 64,
  });
  await expect(
    made('interlaced', drawn.clone().png({ progressive: true, compressionLevel: 1 })),
  ).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
  await expect(made('whole', drawn.clone().webp({ effort: 0 }))).rejects.toMatchObject({ code: 'NOT_FOUND' });
  const small = sharp({ create: { width: 3_100, height: 3_000, channels: 3, background: '#888' } });
  await expect(made('avif', small.avif({ effort: 0 }))).rejects.toMatchObject({ code: 'NOT_FOUND' });
  const wide = sharp({ create: { width: 17_000, height: 100, channels: 3, background: '#888' } });
  await expect(made('wide', wide.png())).rejects.toMatchObject({ code: 'NOT_FOUND' });
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>');
  await expect(made('drawing', svg)).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

it('are not made of an image that claims too many pixels, nothing of which is read', async () => {
  let reads = 0;
  const watched: ObjectStore = {
    ...store,
    get: (...words) => {
      reads += 1;
      return store.get(...words);
    },
  };
  const large = await storeImage('ann', 'large', { width: 20_000, height: 20_000 });
  await expect(createThumbnails(watched, null).read(large, 64)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(reads).toBe(0);
});
