import { crc32 } from 'node:zlib';

import sharp from 'sharp';
import { describe, expect, it } from 'vitest';

import { openImage } from './image.ts';

type Format = 'png' | 'jpeg' | 'webp' | 'gif' | 'tiff' | 'avif';

/** Writes another size into the header of a small image: nothing of the rest is looked at before the size is refused. */
const RESIZE: Readonly<Record<Format, (image: Buffer, width: number, height: number) => void>> = {
  png(image, width, height) {
    image.writeUInt32BE(width, 16);
    image.writeUInt32BE(height, 20);
    image.writeUInt32BE(crc32(image.subarray(12, 29)), 29);
  },
  jpeg(image, width, height) {
    const at = Math.max(image.indexOf(Buffer.from([0xff, 0xc0])), image.indexOf(Buffer.from([0xff, 0xc2])));
    image.writeUInt16BE(height, at + 5);
    image.writeUInt16BE(width, at + 7);
  },
  webp(image, width, height) {
    const at = image.indexOf('VP8L') + 9;
    const flags = image.readUInt32LE(at) & 0xf0_00_00_00;
    image.writeUInt32LE((flags | (width - 1) | ((height - 1) << 14)) >>> 0, at);
  },
  gif(image, width, height) {
    const frame = image.indexOf(Buffer.from([0x2c, 0, 0, 0, 0])) + 5;
    for (const at of [6, frame]) {
      image.writeUInt16LE(width, at);
      image.writeUInt16LE(height, at + 2);
    }
  },
  tiff(image, width, height) {
    const directory = image.readUInt32LE(4);
    for (let at = directory + 2; at < directory + 2 + image.readUInt16LE(directory) * 12; at += 12) {
      const tag = image.readUInt16LE(at);
      if (tag !== 256 && tag !== 257) continue;
      image.writeUInt16LE(4, at + 2);
      image.writeUInt32LE(tag === 256 ? width : height, at + 8);
    }
  },
  avif(image, width, height) {
    const at = image.indexOf('ispe') + 8;
    image.writeUInt32BE(width, at);
    image.writeUInt32BE(height, at + 4);
  },
};

async function createImage(
  format: Format,
  width: number,
  height: number,
  progressive = false,
): Promise<Buffer> {
  const small = sharp({ create: { width: 8, height: 8, channels: 3, background: '#d08030' } });
  const more =
    format === 'webp' ? { lossless: true } : format === 'png' || format === 'jpeg' ? { progressive } : {};
  const image = await small.toFormat(format, more).toBuffer();
  RESIZE[format](image, width, height);
  return image;
}

async function readSize(image: Buffer, isDrawn?: boolean): Promise<readonly number[]> {
  const { metadata } = await openImage(image, isDrawn);
  return [metadata.width, metadata.height];
}

describe('an image of a stranger', () => {
  it.each<[Format, number, number, boolean?]>([
    ['png', 10_000, 10_000],
    ['jpeg', 10_000, 10_000],
    ['webp', 5_000, 5_000],
    ['gif', 5_000, 5_000],
    ['tiff', 5_000, 5_000],
    ['avif', 3_000, 3_000],
    ['png', 5_000, 5_000, true],
    ['jpeg', 5_000, 5_000, true],
    ['png', 16_384, 100],
  ])('is decoded as %s up to %d x %d pixels', async (format, width, height, progressive) => {
    expect(await readSize(await createImage(format, width, height, progressive))).toEqual([width, height]);
    const larger = await createImage(format, width + 1, height, progressive);
    await expect(openImage(larger)).rejects.toThrow(/pixels is not decoded|exceeds pixel limit/);
  });

  it('is no drawing, which only we make', async () => {
    const drawing = (side: number) =>
      Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${side}" height="${side}"/>`);
    await expect(openImage(drawing(10))).rejects.toThrow('a svg of 10 x 10 pixels is not decoded');
    expect(await readSize(drawing(5_000), true)).toEqual([5_000, 5_000]);
    await expect(openImage(drawing(5_001), true)).rejects.toThrow('is not decoded');
  });

  it('is refused where it can not be read', async () => {
    await expect(openImage(Buffer.from('no image'))).rejects.toThrow('unsupported image format');
  });
});
