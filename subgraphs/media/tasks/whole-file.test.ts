import { Readable } from 'node:stream';

import sharp from 'sharp';
import { describe, expect, it } from 'vitest';

import type { StoredFile } from '../files/files.ts';
import { isWhole } from './whole-file.ts';

/** A file of these bytes, and where it is opened. */
function stored(content: Buffer, contentType: string) {
  const file: StoredFile = {
    id: 'a',
    owner: 'anon',
    name: 'a',
    contentType,
    bytes: content.length,
    sha256: '',
    width: null,
    height: null,
    duration: null,
    createdAt: new Date(),
  };
  const open = async (_id: string, range = { start: 0, end: content.length - 1 }) =>
    Readable.from([content.subarray(range.start, range.end + 1)]);
  return [{ open }, file] as const;
}

const noise = sharp({
  create: {
    width: 120,
    height: 90,
    channels: 3,
    background: 'black',
    noise: { type: 'gaussian', mean: 128, sigma: 40 },
  },
});

describe('a picture', () => {
  it.each(['png', 'jpeg', 'webp'] as const)('in %s is whole to its last byte only', async (format) => {
    const content = await noise.clone().toFormat(format).toBuffer();
    const type = `image/${format}`;
    expect(await isWhole(...stored(content, type))).toBe(true);
    expect(await isWhole(...stored(Buffer.concat([content, Buffer.from('\n')]), type))).toBe(true);
    for (const part of [0.99, 0.5, 0.1]) {
      const cut = content.subarray(0, Math.floor(content.length * part));
      expect(await isWhole(...stored(cut, type)), `${part} of ${format}`).toBe(false);
    }
  });

  it('without an end mark that we know counts as whole', async () => {
    expect(await isWhole(...stored(Buffer.from('GIF89a'), 'image/gif'))).toBe(true);
  });
});
