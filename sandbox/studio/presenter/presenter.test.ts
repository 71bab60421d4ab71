import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from 'mediabunny';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { silentLogger } from '../../../platform/process/logger.ts';
import { createInstantStudio } from '../instant/instant-studio.ts';
import { writeWav } from '../sound/sound.ts';
import { createStudio } from '../studio.ts';
import type { Studio } from '../types/studio.ts';

let studio: Studio;

beforeAll(() => {
  studio = createStudio({ size: 'small', logger: silentLogger() });
});
afterAll(() => studio.close());

const refusal = (code: string, words = '') =>
  expect.objectContaining({ name: 'StudioRefusal', code, message: expect.stringContaining(words) });
const TEXT = 'Our own mama.';
/** A tone that comes and goes, as loud as a voice. */
const tone = (seconds: number, sampleRate = 16_000) =>
  writeWav({
    samples: Float32Array.from(
      { length: Math.round(seconds * sampleRate) },
      (_value, index) =>
        0.5 * Math.sin((index * 1_400) / sampleRate) * Math.abs(Math.sin((index * 6) / sampleRate)),
    ),
    sampleRate,
  });
const createImage = (width = 300, height = 200) =>
  sharp({ create: { width, height, channels: 3, background: 'teal' } })
    .png()
    .toBuffer();

/** The coded frames of a file, and what its tracks are. */
async function readTracks(file: Buffer) {
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(file) });
  const [video, sound] = [await input.getPrimaryVideoTrack(), await input.getPrimaryAudioTrack()];
  const packets = [];
  for await (const packet of new EncodedPacketSink(video!).packets()) packets.push(packet);
  return {
    codecs: [await video!.getCodec(), await sound?.getCodec()],
    size: [await video!.getDisplayWidth(), await video!.getDisplayHeight()],
    seconds: await video!.computeDuration(),
    soundSeconds: await sound?.computeDuration(),
    packets,
    title: (await input.getMetadataTags()).title,
  };
}

test('a drawn presenter speaks a text, in a video as long as the speech', async () => {
  const seen: [number, string][] = [];
  const onProgress = (percent: number, stage: string) => seen.push([percent, stage]);
  const speech = await studio.speech({ text: TEXT, format: 'wav' });
  const talk = await studio.presenter({ text: TEXT, resolution: 144 }, { onProgress });
  expect(talk).toMatchObject({
    contentType: 'video/mp4',
    width: 144,
    height: 256,
    framesPerSecond: 12,
    hasSound: true,
    redrawn: true,
    note: null,
  });
  const tracks = await readTracks(talk.bytes);
  expect(tracks).toMatchObject({ codecs: ['avc', 'aac'], size: [144, 256], title: 'A presenter' });
  expect(tracks.packets).toHaveLength(Math.ceil(speech.duration * 12));
  expect(Math.abs(tracks.soundSeconds! - speech.duration)).toBeLessThan(0.1);
  expect(talk.duration).toBe(Math.max(tracks.seconds, tracks.soundSeconds!));
  expect(talk.bytes.indexOf('moov')).toBeLessThan(talk.bytes.indexOf('mdat'));
  expect(await sharp(talk.poster).metadata()).toMatchObject({ format: 'jpeg', width: 144, height: 256 });
  const percents = seen.map(([percent]) => percent);
  expect(percents).toEqual(percents.toSorted((one, other) => one - other));
  expect(new Set(seen.map(([, stage]) => stage))).toEqual(new Set(['speaking', 'voice', 'frames']));
});

test('makes the same bytes of the same request, others of another seed, prompt or voice', async () => {
  const make = async (more: object) =>
    (await studio.presenter({ text: 'Oh.', resolution: 144, aspectRatio: '1:1', ...more })).bytes;
  const one = await make({});
  expect((await make({})).equals(one)).toBe(true);
  for (const more of [{ seed: 7 }, { prompt: 'a lighthouse' }, { voice: 'rms' }]) {
    expect((await make(more)).equals(one)).toBe(false);
  }
});

test('says what of a text was not spoken', async () => {
  const talk = await studio.presenter({ text: 'Oh 𓀀.', resolution: 144, prompt: 'a greeting' });
  expect(talk.note).toContain('no sound for it: 𓀀');
  expect((await readTracks(talk.bytes)).title).toBe('a greeting');
});

test('moves an image by a voice, and says why no mouth is drawn', async () => {
  const speech = await studio.speech({ text: TEXT, format: 'mp3' });
  const talk = await studio.presenter({ image: await createImage(), audio: speech.bytes, resolution: 144 });
  expect(talk).toMatchObject({ width: 216, height: 144, redrawn: true });
  expect(talk.note).toContain('no face region');
  const { codecs, soundSeconds } = await readTracks(talk.bytes);
  expect(codecs).toEqual(['avc', 'aac']);
  expect(Math.abs(soundSeconds! - speech.duration)).toBeLessThan(0.15);
});

test.each([
  ['longer', 1.7],
  ['shorter', 0.4],
])('copies the frames of a video that it cannot decode under a %s sound', async (_what, seconds) => {
  const video = await studio.video({ prompt: 'a boat', durationSeconds: 1, resolution: 144 });
  const talk = await studio.presenter({ video: video.bytes, audio: tone(seconds) });
  expect(talk).toMatchObject({ width: video.width, height: video.height, redrawn: false, hasSound: true });
  expect(talk.note).toMatch(/\(H\.264\) cannot be decoded here/);
  const [before, after] = [await readTracks(video.bytes), await readTracks(talk.bytes)];
  expect(after.codecs).toEqual(['avc', 'aac']);
  expect(after.packets).toHaveLength(Math.ceil(seconds * 12));
  for (const [index, packet] of after.packets.entries()) {
    const original = before.packets[index % before.packets.length];
    expect(Buffer.from(packet.data).equals(original!.data)).toBe(true);
  }
  expect(Math.abs(after.seconds - seconds)).toBeLessThan(0.01);
  expect(Math.abs(after.soundSeconds! - seconds)).toBeLessThan(0.15);
  const again = await studio.presenter({ video: video.bytes, audio: tone(seconds) });
  expect(again.bytes.equals(talk.bytes)).toBe(true);
  expect((await sharp(talk.poster).metadata()).format).toBe('jpeg');
});

test('takes sounds of unusual rates, which AAC does not have', async () => {
  for (const rate of [5_000, 100_000]) {
    const talk = await studio.presenter({ audio: tone(0.5, rate), resolution: 144 });
    expect(Math.abs((await readTracks(talk.bytes)).soundSeconds! - 0.5)).toBeLessThan(0.15);
  }
});

test.each([
  ['neither audio nor text', {}],
  ['both audio and text', { audio: Buffer.from('x'), text: 'x' }],
  ['both an image and a video', { text: 'x', image: Buffer.from('x'), video: Buffer.from('x') }],
  ['too many pixels', { text: 'x', resolution: 4_000 }],
  ['too few pixels', { text: 'x', resolution: 10 }],
  ['too many characters', { text: 'x'.repeat(10_001) }],
  ['half a seed', { text: 'x', seed: 0.5 }],
])('refuses %s, and so does the instant studio', async (_what, request) => {
  await expect(studio.presenter(request)).rejects.toEqual(refusal('OUT_OF_RANGE'));
  await expect(createInstantStudio().presenter(request)).rejects.toEqual(refusal('OUT_OF_RANGE'));
});

test('refuses what lasts too long, telling the limit', async () => {
  await expect(studio.presenter({ audio: tone(61, 8_000) })).rejects.toEqual(
    refusal('OUT_OF_RANGE', 'longer than 60 seconds'),
  );
  await expect(studio.presenter({ text: 'She had your dark suit. '.repeat(70) })).rejects.toEqual(
    refusal('OUT_OF_RANGE', 'longer than 60 seconds'),
  );
});

test('refuses what it cannot read or speak', async () => {
  const unreadable = refusal('UNREADABLE_MEDIA');
  const nothing = Buffer.from('hello');
  const { bytes: silent } = await studio.video({ prompt: 'x', durationSeconds: 1, resolution: 144 });
  await expect(studio.presenter({ text: '🎉' })).rejects.toEqual(refusal('NOTHING_TO_SPEAK'));
  await expect(studio.presenter({ audio: nothing })).rejects.toEqual(unreadable);
  await expect(studio.presenter({ audio: silent })).rejects.toEqual(unreadable);
  await expect(studio.presenter({ audio: await createImage() })).rejects.toEqual(unreadable);
  await expect(studio.presenter({ text: 'Oh.', image: nothing })).rejects.toEqual(unreadable);
  await expect(studio.presenter({ text: 'Oh.', video: nothing })).rejects.toEqual(unreadable);
  await expect(studio.presenter({ text: 'Oh.', video: tone(1) })).rejects.toEqual(unreadable);
  await expect(studio.presenter({ text: 'Oh.', video: await createImage() })).rejects.toEqual(unreadable);
  await expect(studio.presenter({ text: 'Oh.', video: silent.subarray(0, 900) })).rejects.toEqual(unreadable);
});

test('gives up a video whose index was made to keep its reader busy', async () => {
  const { bytes } = await createInstantStudio().video({ prompt: 'anything' });
  const costly = Buffer.from(bytes);
  costly.writeUInt32BE(0x98_00_00_18, costly.indexOf('stsc') + 16);
  const hasty = createStudio({ logger: silentLogger(), timeoutMs: 2_000 });
  try {
    await expect(hasty.presenter({ text: 'Oh.', video: costly })).rejects.toEqual(
      refusal('UNREADABLE_MEDIA', 'too long'),
    );
  } finally {
    await hasty.close();
  }
});

test('cancelling a talk ends its worker at once, and the next one is served', async () => {
  const abort = new AbortController();
  const reason = new Error('changed my mind');
  let frames = 0;
  const talking = studio.presenter(
    { audio: tone(50), resolution: 360 },
    {
      signal: abort.signal,
      onProgress: (_percent, stage) => {
        if (stage !== 'frames') return;
        frames += 1;
        abort.abort(reason);
      },
    },
  );
  await expect(talking).rejects.toBe(reason);
  expect(frames).toBeLessThan(20);
  expect((await studio.presenter({ text: 'Oh.', resolution: 144 })).bytes.length).toBeGreaterThan(1_000);
});

test('the instant studio serves a real video of whoever talks', async () => {
  const instant = createInstantStudio();
  const talk = await instant.presenter({ text: TEXT });
  expect(talk.redrawn).toBe(true);
  expect(await instant.probe(talk.bytes)).toMatchObject({
    duration: talk.duration,
    width: talk.width,
    videoCodec: 'avc',
    audioCodec: 'aac',
  });
  expect((await instant.presenter({ video: talk.bytes, audio: tone(1) })).redrawn).toBe(false);
  expect(await instant.detectPerson(await createImage())).toMatchObject({ hasPerson: null });
  await expect(instant.presenter({ text: '🎉' })).rejects.toEqual(refusal('NOTHING_TO_SPEAK'));
});
