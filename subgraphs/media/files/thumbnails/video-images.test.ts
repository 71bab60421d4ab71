import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { readFirstFrame } from './video-images.ts';

/** H.264 of the High profile, 64x36, as nearly all providers send it. */
const sample = new URL('../../../../test/kit/samples/high-profile.mp4', import.meta.url);

/** Stands in for ffmpeg: takes a Matroska file on its standard input, and answers an image. */
const STAND_IN = `#!${process.execPath}
const chunks = [];
process.stdin.on('data', (chunk) => chunks.push(chunk)).on('end', () => {
  const file = Buffer.concat(chunks);
  if (file.readUInt32BE(0) !== 0x1a45dfa3 || !process.argv.includes('pipe:0')) process.exit(1);
  process.stdout.write(Buffer.from(IMAGE, 'base64'));
});
`;

let folder: string;
let ffmpeg: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'kiln-ffmpeg-'));
  const image = await sharp({ create: { width: 64, height: 36, channels: 3, background: '#f00' } })
    .png()
    .toBuffer();
  ffmpeg = path.join(folder, 'ffmpeg.cjs');
  await writeFile(ffmpeg, STAND_IN.replace('IMAGE', `'${image.toString('base64')}'`));
  await chmod(ffmpeg, 0o755);
});
afterAll(() => rm(folder, { recursive: true }));

test('gives an image that is not decoded here to ffmpeg, alone in a file', async () => {
  const image = await readFirstFrame(await readFile(sample), ffmpeg);
  expect(image).not.toBeNull();
  expect(await sharp(image ?? undefined).metadata()).toMatchObject({
    width: 64,
    height: 36,
    format: 'png',
  });
});

test('answers none when ffmpeg is missing, or the file is cut off', async () => {
  const video = await readFile(sample);
  const answers = await Promise.all([
    readFirstFrame(video, path.join(folder, 'nothing')),
    readFirstFrame(video.subarray(0, 700), ffmpeg),
  ]);
  expect(answers).toEqual([null, null]);
});
