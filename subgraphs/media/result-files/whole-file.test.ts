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
    blake3: null,
    width: null,
    height: null,
    duration: null,
    taskId: null,
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

describe('an image', () => {
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

describe('a video in MP4', () => {
  const box = (name: string, content: number) => {
    const head = Buffer.alloc(8 + content);
    head.writeUInt32BE(head.length, 0);
    head.write(name, 4, 'latin1');
    return head;
  };
  const whole = Buffer.concat([box('ftyp', 16), box('mdat', 5_000), box('moov', 200)]);
  const isWholeVideo = (content: Buffer) => isWhole(...stored(content, 'video/mp4'));

  it('is whole when all its boxes are, and its index is among them', async () => {
    expect(await isWholeVideo(whole)).toBe(true);
    const long = box('mdat', 5_000);
    long.writeUInt32BE(1, 0);
    long.writeBigUInt64BE(BigInt(long.length), 8);
    expect(await isWholeVideo(Buffer.concat([box('moov', 200), long]))).toBe(true);
    expect(await isWholeVideo(Buffer.concat([whole, Buffer.from('left behind by a tool')]))).toBe(true);
    const open = box('mdat', 5_000);
    open.writeUInt32BE(0, 0);
    expect(await isWholeVideo(Buffer.concat([box('moov', 200), open]))).toBe(true);
  });

  it('of more boxes than are read counts as whole', async () => {
    const boxes = (count: number) => Buffer.concat(Array.from({ length: count }, () => box('free', 0)));
    expect(await isWholeVideo(boxes(1_000))).toBe(false);
    expect(await isWholeVideo(boxes(1_001))).toBe(true);
  });

  it.each([
    [
      'with a box that is shorter than its head',
      Buffer.concat([box('moov', 200), Buffer.from([0, 0, 0, 7]), Buffer.from('mdat')]),
    ],
    ['cut', whole.subarray(0, -1)],
    ['cut before its index', whole.subarray(0, 24 + 5_008)],
    ['cut within a head', whole.subarray(0, 24 + 3)],
    ['without its index', box('mdat', 5_000)],
  ])('%s is not', async (_, content) => expect(await isWholeVideo(content)).toBe(false));
});
