import { afterAll, beforeAll, expect, test } from 'vitest';

import { silentLogger } from '../../../platform/process/logger.ts';
import { decodeSound } from '../sound/decode.ts';
import { measureDuration, type Sound, writeWav } from '../sound/sound.ts';
import { createStudio } from '../studio.ts';
import type { StudioVoiceId } from '../types/media-types.ts';
import type { Studio } from '../types/studio.ts';
import { readScript } from './script.ts';

let studio: Studio;

beforeAll(() => {
  studio = createStudio({ size: 'small', logger: silentLogger() });
});
afterAll(() => studio.close());

const TEXT =
  'The quick brown fox jumps over the lazy dog. She had your dark suit in greasy wash water all year.';
const refusal = (code: string) => expect.objectContaining({ name: 'StudioRefusal', code });

test('speaks a text as MP3 that decodes, lasts plausibly and is not silent', async () => {
  const speech = await studio.speech({ text: TEXT, format: 'mp3' });
  expect(speech).toMatchObject({ contentType: 'audio/mpeg', characters: TEXT.length, omitted: null });
  const sound = await decodeSound(speech.bytes, 60);
  expect(loudness(sound)).toBeGreaterThan(0.01);
  expect(measureDuration(sound)).toBeGreaterThan(4);
  expect(measureDuration(sound)).toBeLessThan(9);
  expect(Math.abs(measureDuration(sound) - speech.duration)).toBeLessThan(0.3);
  const again = await studio.speech({ text: TEXT, format: 'mp3' });
  expect(again.bytes.equals(speech.bytes)).toBe(true);
});

test.each(['slt', 'rms', 'awb', 'kal16', 'kal'] as const)(
  'has the voice %s',
  async (voice: StudioVoiceId) => {
    expect(studio.voices().map(({ id }) => id)).toContain(voice);
    const speech = await studio.speech({ text: 'Good morning.', voice, format: 'wav' });
    const sound = await decodeSound(speech.bytes, 60);
    expect(speech.contentType).toBe('audio/wav');
    expect(measureDuration(sound)).toBeCloseTo(speech.duration, 3);
    expect(loudness(sound)).toBeGreaterThan(0.01);
  },
);

test('speaks slower, faster, higher and lower as asked', async () => {
  const speak = (more: object) => studio.speech({ text: TEXT, format: 'wav', ...more });
  const [plain, slow, fast] = [await speak({}), await speak({ speed: 0.5 }), await speak({ speed: 2 })];
  expect(slow.duration / plain.duration).toBeGreaterThan(1.7);
  expect(fast.duration / plain.duration).toBeLessThan(0.65);
  for (const voice of ['slt', 'rms'] as const) {
    const measurePitch = async (pitch: number) =>
      (await studio.matchVoice((await speak({ voice, pitch })).bytes)).pitch;
    const [low, middle, high] = [await measurePitch(-4), await measurePitch(0), await measurePitch(4)];
    expect(high / middle).toBeGreaterThan(1.1);
    expect(low / middle).toBeLessThan(0.92);
  }
});

test.each(['', '   ', '𓀀𓀁', '🎉🎉', '... !!! ---'])(
  'refuses "%s": there is nothing in it to speak',
  async (text) => {
    await expect(studio.speech({ text, format: 'mp3' })).rejects.toEqual(refusal('NOTHING_TO_SPEAK'));
  },
);

test('refuses values out of their range', async () => {
  await expect(studio.speech({ text: 'x'.repeat(10_001), format: 'mp3' })).rejects.toEqual(
    refusal('OUT_OF_RANGE'),
  );
  await expect(studio.speech({ text: 'x', speed: 9, format: 'mp3' })).rejects.toEqual(
    refusal('OUT_OF_RANGE'),
  );
  await expect(studio.speech({ text: 'x', pitch: 13, format: 'mp3' })).rejects.toEqual(
    refusal('OUT_OF_RANGE'),
  );
});

test('tells what of a mixed text it could not speak', async () => {
  const speech = await studio.speech({ text: 'Good morning, 𓀀 café.', format: 'wav' });
  expect(speech.omitted).toBe('𓀀');
});

test.each(['你好，世界。', 'Привет', 'こんにちは', '안녕하세요'])(
  'speaks "%s" by its Latin letters',
  async (text) => {
    const speech = await studio.speech({ text, format: 'wav' });
    expect(speech.omitted).toBeNull();
    expect(loudness(await decodeSound(speech.bytes, 60))).toBeGreaterThan(0.01);
  },
);

test('splits a text into passages, turns other scripts into Latin letters and tells the rest', () => {
  expect(readScript('One “two”. Café – naïve! Straße…')).toEqual({
    passages: ['One "two". Cafe - naive! Strasse...'],
    omitted: '',
  });
  expect(readScript('Hello 世界 42')).toEqual({ passages: ['Hello Shi Jie 42'], omitted: '' });
  expect(readScript('Hello 𓀀 42')).toEqual({ passages: ['Hello 42'], omitted: '𓀀' });
  const { passages } = readScript(`${'word '.repeat(300)}. ${'a'.repeat(1_000)}`);
  expect(Math.max(...passages.map(({ length }) => length))).toBeLessThanOrEqual(400);
  expect(passages.join('').replaceAll(/[ .]/g, '')).toBe(`${'word'.repeat(300)}${'a'.repeat(1_000)}`);
});

test('matches a voice: the same sample gives the same answer, and speech with it has its pitch', async () => {
  for (const [voice, base] of [
    ['slt', 'slt'],
    ['awb', 'awb'],
    ['rms', 'awb'],
  ] as const) {
    const sample = (await studio.speech({ text: TEXT, voice, format: 'mp3' })).bytes;
    const matched = await studio.matchVoice(sample);
    expect(await studio.matchVoice(sample)).toEqual(matched);
    expect(matched.baseVoice).toBe(base);
    const spoken = await studio.speech({ text: TEXT, voice: matched, format: 'wav' });
    const heard = await studio.matchVoice(spoken.bytes);
    expect(Math.abs(heard.pitch / matched.pitch - 1)).toBeLessThan(0.1);
  }
});

test('finds no voice in silence and noise, and says which sound it cannot decode', async () => {
  let state = 1;
  const noise = Float32Array.from({ length: 32_000 }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state / 2_147_483_648 - 1;
  });
  const wav = (samples: Float32Array) => writeWav({ samples, sampleRate: 16_000 });
  await expect(studio.matchVoice(wav(noise))).rejects.toEqual(refusal('NO_VOICE'));
  await expect(studio.matchVoice(wav(new Float32Array(32_000)))).rejects.toEqual(refusal('NO_VOICE'));
  await expect(studio.matchVoice(wav(new Float32Array(0)))).rejects.toEqual(refusal('UNREADABLE_MEDIA'));
  await expect(studio.matchVoice(Buffer.from('hello'))).rejects.toEqual(refusal('UNREADABLE_MEDIA'));
  const video = await studio.video({
    prompt: 'x',
    durationSeconds: 1,
    resolution: 144,
    soundtrack: 'ambient',
  });
  await expect(studio.matchVoice(video.bytes)).rejects.toThrow('aac');
  const mute = await studio.video({ prompt: 'x', durationSeconds: 1, resolution: 144 });
  await expect(studio.matchVoice(mute.bytes)).rejects.toThrow('no sound');
});

function loudness({ samples }: Sound): number {
  return Math.sqrt(samples.reduce((sum, value) => sum + value * value, 0) / samples.length);
}
