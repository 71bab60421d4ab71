import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import {
  ALL_FORMATS,
  BufferSource,
  BufferTarget,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  Input,
  Mp4OutputFormat,
  Output,
} from 'mediabunny';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { readFirstFrame, readSpritesheet } from './video-images.ts';

/** H.264 of the High profile, 64x36, as nearly all providers send it. */
const sample = new URL('../../../../test/kit/samples/high-profile.mp4', import.meta.url);

/** H.264 of the Baseline profile, which is decoded here. */
const baseline = new URL('../../../../sandbox/studio/instant/clip.mp4', import.meta.url);

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

test('answers none when ffmpeg is missing or makes none, or the file is cut off', async () => {
  const video = await readFile(sample);
  // As ffmpeg ends where it finds no image: with nothing, and without an error.
  const silent = path.join(folder, 'silent.cjs');
  await writeFile(silent, `#!${process.execPath}\nprocess.stdin.resume();\n`);
  await chmod(silent, 0o755);
  const answers = await Promise.all([
    readFirstFrame(video, path.join(folder, 'nothing')),
    readFirstFrame(video, silent),
    readSpritesheet(video, silent),
    readFirstFrame(video.subarray(0, 700), ffmpeg),
  ]);
  expect(answers).toEqual([null, null, null, null]);
});

/** The same images, so many seconds later, or turned by players. */
async function changed(
  video: Uint8Array,
  { seconds = 0, rotation = 0 }: { seconds?: number; rotation?: 0 | 90 | 180 | 270 },
): Promise<Uint8Array> {
  using input = new Input({ formats: ALL_FORMATS, source: new BufferSource(video) });
  const track = await input.getPrimaryVideoTrack();
  const decoderConfig = await track?.getDecoderConfig();
  if (!track || !decoderConfig) throw new Error('no video');
  const target = new BufferTarget();
  const output = new Output({ format: new Mp4OutputFormat(), target });
  const source = new EncodedVideoPacketSource('avc');
  output.addVideoTrack(source, { rotation });
  await output.start();
  for await (const packet of new EncodedPacketSink(track).packets()) {
    await source.add(packet.clone({ timestamp: packet.timestamp + seconds }), { decoderConfig });
  }
  await output.finalize();
  return new Uint8Array(target.buffer ?? new ArrayBuffer());
}

test('takes images at even distances also of a video that begins late', async () => {
  const video = await readFile(baseline);
  const sheets = await Promise.all(
    [0, 30].map(async (seconds) => readSpritesheet(await changed(video, { seconds }), null)),
  );
  expect(sheets[0]).not.toBeNull();
  expect(sheets[1]?.equals(sheets[0] ?? Buffer.alloc(0))).toBe(true);
});

test('has ffmpeg turn the images of a sheet as players do', async () => {
  const program = path.join(folder, 'arguments.cjs');
  const told = path.join(folder, 'arguments');
  await writeFile(
    program,
    `#!${process.execPath}\nrequire('fs').appendFileSync('${told}', process.argv.join(' ') + '\\n');\n`,
  );
  await chmod(program, 0o755);
  const video = await readFile(sample);
  for (const rotation of [0, 90, 180, 270] as const)
    await readSpritesheet(await changed(video, { rotation }), program);
  const filters = (await readFile(told, 'utf8')).match(/(?<=fps=[^,]+,).*(?=scale)/g);
  expect(filters).toEqual(['', 'transpose=clock,', 'hflip,vflip,', 'transpose=cclock,']);
});
