import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import sharp, { type Sharp } from 'sharp';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { createDiskStore } from '../../../../platform/object-store/disk.ts';
import type { ObjectStore } from '../../../../platform/object-store/object-store.ts';
import { createThumbnails } from './thumbnails.ts';

let folder: string;
let store: ObjectStore;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'kiln-thumbnails-'));
  store = createDiskStore({ directory: folder });
});
afterAll(() => rm(folder, { recursive: true }));

/** A picture of somebody's, with the size that its file claims. */
async function picture(owner: string, id: string, claims: { width: number; height: number } | null = null) {
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

it('are made for each person in turn, however many one of them asks for', async () => {
  const begun: string[] = [];
  const watched: ObjectStore = {
    ...store,
    get: (key, ...rest) => {
      begun.push(key);
      return store.get(key, ...rest);
    },
  };
  const thumbnails = createThumbnails(watched, null);
  const own = await Promise.all(['a1', 'a2', 'a3', 'a4', 'a5', 'a6'].map((id) => picture('ann', id)));
  const other = await picture('ben', 'b1');
  // Each looks first whether it is there already: they wait in the order in which they were asked for.
  const made = [...own, other].map((one) => thumbnails.read(one, 64));
  await Promise.all(made);
  expect(begun.slice(0, 4)).toContain('b1');
  expect(begun).toHaveLength(7);
});

it('are made of large pictures that are read row by row, and not of those that have to be unpacked whole', async () => {
  const [width, height] = [5_100, 5_000];
  const drawn = sharp({ create: { width, height, channels: 3, background: '#888' } });
  const thumbnails = createThumbnails(store, null);
  const made = async (id: string, image: Sharp) => {
    const content = await image.toBuffer();
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
});

it('are not made of a picture that claims too many pixels, nothing of which is read', async () => {
  let reads = 0;
  const watched: ObjectStore = {
    ...store,
    get: (...words) => {
      reads += 1;
      return store.get(...words);
    },
  };
  const large = await picture('ann', 'large', { width: 20_000, height: 20_000 });
  await expect(createThumbnails(watched, null).read(large, 64)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(reads).toBe(0);
});
