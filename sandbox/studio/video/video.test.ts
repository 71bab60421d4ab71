import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from 'mediabunny';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { silentLogger } from '../../../platform/process/logger.ts';
import { createStudio } from '../studio.ts';
import type { Studio } from '../types/studio.ts';
import { createCameraRenderer, createDissolveRenderer } from './camera-renderer.ts';
import { clearTimes } from './mp4.ts';
import { createSceneRenderer } from './video.ts';
import { frameBytes, toRgb } from './yuv.ts';

let studio: Studio;

beforeAll(() => {
  studio = createStudio({ size: 'small', logger: silentLogger() });
});
afterAll(() => studio.close());

const SIZE = { width: 64, height: 36 };
const plain = (background: string) =>
  sharp({ create: { ...SIZE, channels: 3, background } })
    .png()
    .toBuffer();
const striped = () =>
  sharp({ create: { ...SIZE, channels: 3, background: '#2040a0' } })
    .composite([
      {
        input: {
          create: { width: 12, height: 36, channels: 3, background: '#f0d020' },
        },
        left: 8,
        top: 0,
      },
    ])
    .png()
    .toBuffer();

/** Frames and key frames in the file, and how its index lies. */
async function readTracks(file: Buffer) {
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(file) });
  const video = await input.getPrimaryVideoTrack();
  const audio = await input.getPrimaryAudioTrack();
  if (video === null) throw new Error('no frames');
  const packets = [];
  for await (const packet of new EncodedPacketSink(video).packets()) packets.push(packet);
  return {
    codec: await video.getCodec(),
    colours: (await video.getColorSpace()).matrix,
    size: { width: await video.getDisplayWidth(), height: await video.getDisplayHeight() },
    duration: await input.computeDuration(),
    soundDuration: audio === null ? null : await audio.computeDuration(),
    soundCodec: audio === null ? null : await audio.getCodec(),
    packets: packets.length,
    keys: packets.flatMap(({ type, timestamp }) => (type === 'key' ? [timestamp] : [])),
    title: (await input.getMetadataTags()).title,
  };
}

test('turns a prompt into an MP4 with H.264 frames and AAC sound of the asked length and shape', async () => {
  const seen: number[] = [];
  const video = await studio.video(
    {
      prompt: 'a boat at dusk 灯塔',
      aspectRatio: '9:16',
      resolution: 144,
      durationSeconds: 2,
      soundtrack: 'ambient',
    },
    { onProgress: (percent) => seen.push(percent) },
  );
  const tracks = await readTracks(video.bytes);
  expect(video).toMatchObject({
    contentType: 'video/mp4',
    width: 144,
    height: 256,
    framesPerSecond: 12,
    hasSound: true,
  });
  expect(tracks).toMatchObject({
    codec: 'avc',
    colours: 'bt709',
    size: { width: 144, height: 256 },
    packets: 24,
    // One key frame in two seconds: with all packets marked as such, players would find nothing to decode where they seek.
    keys: [0],
    soundCodec: 'aac',
    title: 'a boat at dusk 灯塔',
  });
  expect(tracks.duration).toBe(video.duration);
  expect(video.duration).toBeGreaterThanOrEqual(2);
  expect(video.duration).toBeLessThan(2.1);
  expect(tracks.soundDuration).toBeGreaterThan(1.95);
  expect(video.bytes.indexOf('moov')).toBeLessThan(video.bytes.indexOf('mdat'));
  const poster = await sharp(video.poster).stats();
  expect(Math.max(...poster.channels.map(({ stdev }) => stdev))).toBeGreaterThan(10);
  expect(await sharp(video.poster).metadata()).toMatchObject({ format: 'jpeg', width: 144, height: 256 });
  expect(seen.length).toBeGreaterThan(10);
  expect(seen).toEqual([...new Set(seen)].toSorted((one, other) => one - other));
});

test('makes the same bytes of the same request, others of another seed', async () => {
  const make = async (more: object) =>
    (
      await studio.video({
        prompt: 'a lighthouse',
        resolution: 144,
        durationSeconds: 1,
        soundtrack: 'ambient',
        ...more,
      })
    ).bytes;
  const [one, again, other] = [await make({}), await make({}), await make({ seed: 7 })];
  expect(again.equals(one)).toBe(true);
  expect(other.equals(one)).toBe(false);
});

test('takes the shape of its first frame, and leads to a last frame alone', async () => {
  const frame = await sharp({ create: { width: 300, height: 201, channels: 3, background: 'teal' } })
    .jpeg()
    .toBuffer();
  const from = await studio.video({
    prompt: 'a boat',
    firstFrame: frame,
    durationSeconds: 1,
    resolution: 144,
  });
  expect(await readTracks(from.bytes)).toMatchObject({
    size: { width: 214, height: 144 },
    packets: 12,
    soundCodec: null,
  });
  const to = await studio.video({ prompt: 'a boat', lastFrame: frame, durationSeconds: 1, resolution: 144 });
  expect(await readTracks(to.bytes)).toMatchObject({ size: { width: 214, height: 144 }, packets: 12 });
});

test('refuses what is too long, too large, or no image', async () => {
  const code = (code: string) => expect.objectContaining({ name: 'StudioRefusal', code });
  await expect(studio.video({ prompt: 'x', durationSeconds: 31 })).rejects.toEqual(code('OUT_OF_RANGE'));
  await expect(studio.video({ prompt: 'x', resolution: 4_000 })).rejects.toEqual(code('OUT_OF_RANGE'));
  await expect(studio.video({ prompt: 'x', firstFrame: Buffer.from('no image') })).rejects.toEqual(
    code('UNREADABLE_MEDIA'),
  );
  const broken = (await striped()).subarray(0, 80);
  await expect(studio.video({ prompt: 'x', firstFrame: broken, aspectRatio: '1:1' })).rejects.toEqual(
    code('UNREADABLE_MEDIA'),
  );
});

test('cancelling a video ends its worker at once, and the next request is served', async () => {
  const abort = new AbortController();
  const reason = new Error('changed my mind');
  const frames: string[] = [];
  const rendering = studio.video(
    { prompt: 'a boat', durationSeconds: 30 },
    {
      signal: abort.signal,
      onProgress: (_percent, stage) => {
        frames.push(stage);
        if (stage === 'frames') abort.abort(reason);
      },
    },
  );
  await expect(rendering).rejects.toBe(reason);
  expect(frames.filter((stage) => stage === 'frames').length).toBeLessThan(20);
  const next = await studio.video({ prompt: 'a boat', durationSeconds: 1, resolution: 144 });
  expect(next.bytes.length).toBeGreaterThan(1_000);
});

const plan = { prompt: 'a boat on the sea', seed: 3, size: SIZE };
const drawn = (film: { draw(moment: number, frame: Uint8Array): void }, moment: number) => {
  const frame = new Uint8Array(frameBytes(SIZE));
  film.draw(moment, frame);
  return toRgb(frame, SIZE);
};
const pixels = (file: Buffer) => sharp(file).removeAlpha().raw().toBuffer();

test('a video between two images starts with the one and ends with the other', async () => {
  const [first, last] = [await striped(), await plain('#a02030')];
  const film = await createDissolveRenderer(plan, { first, last });
  // Colour is kept for four pixels together: the edges of the stripe may bleed, plain places may not.
  expect(difference(drawn(film, 0), await pixels(first))).toBeLessThan(2);
  expect(difference(drawn(film, 1), await pixels(last))).toBeLessThan(2);
  const middle = drawn(film, 0.5);
  expect(difference(middle, await pixels(first))).toBeGreaterThan(10);
  expect(difference(middle, await pixels(last))).toBeGreaterThan(10);
});

test('the camera moves over an image, and past the scene of a prompt', async () => {
  const camera = await createCameraRenderer(plan, await striped());
  expect(difference(drawn(camera, 0), drawn(camera, 1))).toBeGreaterThan(5);
  const scene = createSceneRenderer(plan);
  expect(difference(drawn(scene, 0), drawn(scene, 1))).toBeGreaterThan(2);
  expect(difference(drawn(scene, 0.4), drawn(scene, 0.4))).toBe(0);
});

test('says so when an MP4 is cut off where its times are', () => {
  const box = Buffer.alloc(16);
  box.writeUInt32BE(40, 0);
  box.write('moov', 4);
  expect(() => clearTimes(box)).toThrow('moov is cut off');
});

/** Mean difference of two images' channels, 0 to 255. */
function difference(one: Buffer, other: Buffer): number {
  expect(one.length).toBe(other.length);
  let sum = 0;
  for (let index = 0; index < one.length; index += 1) {
    sum += Math.abs((one[index] ?? 0) - (other[index] ?? 0));
  }
  return sum / one.length;
}
