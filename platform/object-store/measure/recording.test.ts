import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';

import { expect, it } from 'vitest';

import type { Measurable } from './measurable.ts';
import { measureRecording } from './recording.ts';

const clip = readFileSync(path.join(import.meta.dirname, '../../../sandbox/studio/instant/clip.mp4'));

function inMemory(content: Buffer): Measurable {
  return {
    bytes: content.length,
    declaredType: null,
    name: 'clip.mp4',
    open: async (range) =>
      Readable.from([range === undefined ? content : content.subarray(range.start, range.end + 1)]),
  };
}

it('measures a film, also many at once', async () => {
  const measured = await Promise.all(
    Array.from({ length: 6 }, () => measureRecording(inMemory(clip), 'video/mp4')),
  );
  for (const measures of measured) {
    expect(measures).toMatchObject({ contentType: 'video/mp4', width: 128, height: 72 });
    expect(measures.duration).toBeGreaterThan(1);
  }
});

it('gives up a file that was made to keep its reader busy, and goes on serving meanwhile', async () => {
  const costly = Buffer.from(clip);
  // The samples of each chunk: two thousand million, instead of a few.
  costly.writeUInt32BE(0x98_00_00_18, costly.indexOf('stsc') + 16);
  let ticks = 0;
  const clock = setInterval(() => (ticks += 1), 10);
  const measures = await measureRecording(inMemory(costly), 'video/mp4', 1_000);
  clearInterval(clock);
  expect(measures).toEqual({ contentType: 'video/mp4', width: null, height: null, duration: null });
  expect(ticks).toBeGreaterThan(10);
  expect(await measureRecording(inMemory(clip), 'video/mp4')).toMatchObject({ width: 128 });
});

it('throws what the store throws', async () => {
  const broken: Measurable = { ...inMemory(clip), open: () => Promise.reject(new Error('the disk is away')) };
  await expect(measureRecording(broken, 'video/mp4')).rejects.toThrow('the disk is away');
});
