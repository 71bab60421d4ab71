import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { silentLogger } from '../../../platform/process/logger.ts';
import { createInstantStudio } from '../instant/instant-studio.ts';
import { decodeSound } from '../sound/decode.ts';
import { measureDuration, writeWav } from '../sound/sound.ts';
import { createStudio } from '../studio.ts';
import type { Studio } from '../types/studio.ts';

let studio: Studio;

beforeAll(() => {
  studio = createStudio({ size: 'small', logger: silentLogger() });
});
afterAll(() => studio.close());

const refusal = (code: string) => expect.objectContaining({ name: 'StudioRefusal', code });
const video = (more: object = {}) =>
  studio.video({ prompt: 'a red boat', durationSeconds: 1, resolution: 144, ...more });
const tone = () => {
  const sampleRate = 22_050;
  const samples = Float32Array.from(
    { length: sampleRate },
    (_value, index) => (index / sampleRate) * Math.sin((2 * Math.PI * 330 * index) / sampleRate),
  );
  return writeWav({ samples, sampleRate });
};

test('reads what videos, sounds and images are', async () => {
  const made = await video({ soundtrack: 'ambient' });
  expect(await studio.probe(made.bytes)).toEqual({
    kind: 'video',
    contentType: 'video/mp4',
    container: 'mp4',
    byteLength: made.bytes.length,
    duration: made.duration,
    width: 256,
    height: 144,
    framesPerSecond: 12,
    videoCodec: 'avc',
    audioCodec: 'aac',
    sampleRate: 32_000,
    channels: 1,
    title: 'a red boat',
  });
  const sound = tone();
  expect(await studio.probe(sound)).toMatchObject({
    kind: 'audio',
    contentType: 'audio/wav',
    container: 'wav',
    duration: 1,
    audioCodec: 'pcm-s16',
    sampleRate: 22_050,
    width: null,
  });
  const turned = await sharp({ create: { width: 30, height: 20, channels: 3, background: 'red' } })
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer();
  expect(await studio.probe(turned)).toMatchObject({
    kind: 'image',
    contentType: 'image/jpeg',
    container: 'jpeg',
    width: 20,
    height: 30,
    duration: null,
  });
});

test.each(['hello', '', '<svg xmlns="http://www.w3.org/2000/svg"/>'])('refuses "%s"', async (text) => {
  const bytes = Buffer.from(text);
  await expect(studio.probe(bytes)).rejects.toEqual(refusal('UNREADABLE_MEDIA'));
  await expect(studio.analyse(bytes)).rejects.toEqual(refusal('UNREADABLE_MEDIA'));
  await expect(studio.thumbnail(bytes)).rejects.toEqual(refusal('UNREADABLE_MEDIA'));
});

test('refuses files that are cut off', async () => {
  const { bytes } = await video();
  await expect(studio.probe(bytes.subarray(0, 600))).rejects.toEqual(refusal('UNREADABLE_MEDIA'));
  const image = (await studio.image({ prompt: 'a boat' })).bytes;
  const half = image.subarray(0, Math.floor(image.length / 2));
  await expect(studio.thumbnail(half)).rejects.toEqual(refusal('UNREADABLE_MEDIA'));
  await expect(studio.analyse(half)).rejects.toEqual(refusal('UNREADABLE_MEDIA'));
});

test('gives up a file whose index was made to keep its reader busy', async () => {
  const { bytes } = await createInstantStudio().video({ prompt: 'anything' });
  const costly = Buffer.from(bytes);
  // The samples of each chunk: two thousand million, instead of a few.
  costly.writeUInt32BE(0x98_00_00_18, costly.indexOf('stsc') + 16);
  const hasty = createStudio({ logger: silentLogger(), timeoutMs: 3_000 });
  try {
    await expect(hasty.probe(costly)).rejects.toEqual(refusal('UNREADABLE_MEDIA'));
  } finally {
    await hasty.close();
  }
});

test('puts into words what it measured, and that it recognises nothing', async () => {
  const film = await studio.analyse((await video({ soundtrack: 'ambient' })).bytes);
  expect(film.facts.kind).toBe('video');
  expect(film.summary).toMatch(
    /^A video \(mp4\): 1\.1 seconds, 256x144, 12 frames a second, H\.264, mono AAC/,
  );
  expect(film.summary).toContain('calls itself "a red boat"');
  expect(film.summary).toContain('Its cover: Landscape');
  expect(film.summary).toContain('not recognised');
  const sound = await studio.analyse(tone());
  expect(sound.summary).toContain('A sound recording (wav): 1 second');
  expect(sound.summary).toContain('Its sound is loud');
  const silence = writeWav({ samples: new Float32Array(8_000), sampleRate: 8_000 });
  expect((await studio.analyse(silence)).summary).toContain('It is silent.');
  const image = await studio.analyse((await studio.image({ prompt: 'a red boat' })).bytes);
  expect(image.summary).toContain('The file itself says: a red boat');
});

test('stands in a small image for each kind of file', async () => {
  const own = await studio.thumbnail((await video()).bytes);
  expect(own).toMatchObject({ source: 'cover', contentType: 'image/jpeg', width: 256, height: 144 });
  const image = await studio.thumbnail((await studio.image({ prompt: 'a boat', aspectRatio: '1:2' })).bytes);
  expect(image).toMatchObject({ source: 'image', width: 160, height: 320 });
  const wave = await studio.thumbnail(tone());
  expect(wave).toMatchObject({ source: 'waveform', contentType: 'image/png', width: 320 });
  for (const { bytes, contentType } of [own, image, wave]) {
    expect((await sharp(bytes).metadata()).format).toBe(contentType.slice('image/'.length));
    await sharp(bytes).stats();
  }
});

test('draws a card for a video without a cover that it cannot decode', async () => {
  const { bytes } = await video({ aspectRatio: '9:16' });
  // The cover's atom under another name: the file stays whole, its cover is gone.
  const bare = Buffer.from(bytes);
  bare.write('xovr', bare.indexOf('covr'), 'latin1');
  const card = await studio.thumbnail(bare);
  expect(card).toMatchObject({ source: 'card', contentType: 'image/png', width: 180, height: 320 });
  const { channels } = await sharp(card.bytes).stats();
  expect(channels[0]?.max).toBe(255);
});

test('the instant studio serves real files that are what it says', async () => {
  const instant = createInstantStudio();
  const film = await instant.video({ prompt: 'anything' });
  expect(await instant.probe(film.bytes)).toMatchObject({
    contentType: film.contentType,
    width: film.width,
    height: film.height,
    duration: film.duration,
    framesPerSecond: film.framesPerSecond,
    videoCodec: 'avc',
    audioCodec: 'aac',
  });
  for (const format of ['mp3', 'wav'] as const) {
    const speech = await instant.speech({ text: 'anything', format });
    expect(await instant.probe(speech.bytes)).toMatchObject({
      contentType: speech.contentType,
      duration: speech.duration,
    });
    expect(measureDuration(await decodeSound(speech.bytes, 9))).toBeGreaterThan(0.4);
  }
  await expect(instant.speech({ text: '🎉', format: 'mp3' })).rejects.toEqual(refusal('NOTHING_TO_SPEAK'));
  await expect(instant.video({ prompt: 'x', durationSeconds: 99 })).rejects.toEqual(refusal('OUT_OF_RANGE'));
  const small = await instant.thumbnail(film.bytes);
  expect(await sharp(small.bytes).metadata()).toMatchObject({ width: small.width, height: small.height });
});
