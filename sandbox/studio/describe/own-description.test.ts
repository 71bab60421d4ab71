import sharp from 'sharp';
import { describe, expect, it } from 'vitest';

import { describeImage } from './describe.ts';
import { toLab } from './palette.ts';

const plain = sharp({ create: { width: 40, height: 30, channels: 3, background: '#a33' } });

describe('what an image says about itself', () => {
  it.each(['jpeg', 'png', 'webp', 'avif'] as const)('is read from EXIF in a %s', async (format) => {
    const described = plain.clone().withExif({ IFD0: { ImageDescription: 'A fox in snow' } });
    const { note } = await describeImage(await described.toFormat(format).toBuffer());
    expect(note).toBe('the file itself says: A fox in snow');
  });

  it('is read from an IPTC caption', async () => {
    const jpeg = await plain.clone().jpeg().toBuffer();
    const { note } = await describeImage(withCaption(jpeg, 'Füchslein'));
    expect(note).toBe('the file itself says: Füchslein');
  });

  it('is nothing in a file without metadata', async () => {
    const { note } = await describeImage(await plain.clone().png().toBuffer());
    expect(note).toBe('measured only: objects and people are not recognised');
  });
});

describe('a colour', () => {
  it.each([
    ['white', [255, 255, 255], [1, 0, 0]],
    ['red', [255, 0, 0], [0.628, 0.225, 0.126]],
    ['green', [0, 255, 0], [0.866, -0.234, 0.179]],
    ['blue', [0, 0, 255], [0.452, -0.032, -0.312]],
    ['a dark grey', [8, 8, 8], [0.134, 0, 0]],
  ] as const)('of %s is measured where OKLab has it', (_, [red, green, blue], lab) => {
    expect(toLab(red, green, blue).map((part) => Math.round(part * 1_000) / 1_000 + 0)).toEqual(lab);
  });
});

/** A JPEG with Photoshop's block of IPTC data behind its first marker. */
function withCaption(jpeg: Buffer, caption: string): Buffer {
  const text = Buffer.from(caption);
  const dataSet = Buffer.concat([Buffer.from([0x1c, 2, 120, 0, text.length]), text]);
  const resource = Buffer.from([...Buffer.from('8BIM'), 4, 4, 0, 0, 0, 0, 0, dataSet.length]);
  const body = Buffer.concat([Buffer.from('Photoshop 3.0\0'), resource, dataSet]);
  const marker = Buffer.from([0xff, 0xed, 0, body.length + 2]);
  return Buffer.concat([jpeg.subarray(0, 2), marker, body, jpeg.subarray(2)]);
}
