import { EncodedPacket } from 'mediabunny';
import sharp from 'sharp';
import { expect, test } from 'vitest';

import { StudioError } from '../../types/media-types.ts';
import type { FrameRenderer } from '../../video/frame-renderer.ts';
import { frameBytes, toRgb } from '../../video/yuv.ts';
import { createLook, eyesAt } from '../drawing/look.ts';
import { countFrames, mouthTrack, type Mouth } from '../drawing/mouth.ts';
import { repeated } from './copied-video.ts';
import { createDrawnPresenter } from './drawn-presenter.ts';
import { createTalkingImage } from './talking-image.ts';

const SIZE = { width: 96, height: 96 };
const SHUT: Mouth = { open: 0, wide: 0.4, round: 0, level: 0 };
/** As quiet as the other: nothing but the mouth differs. */
const OPEN: Mouth = { open: 1, wide: 0.5, round: 0.1, level: 0 };
const still = (mouth: Mouth) => ({ track: [mouth], framesPerSecond: 12 });

const drawn = (film: FrameRenderer, moment = 0) => {
  const frame = new Uint8Array(frameBytes(SIZE));
  film.draw(moment, frame);
  return toRgb(frame, SIZE);
};
/** Where two images differ clearly: the smallest box in shares of the image, and how many pixels. */
function changes(one: Buffer, other: Buffer) {
  const box = { left: 1, top: 1, right: 0, bottom: 0, pixels: 0 };
  for (let at = 0; at < one.length; at += 3) {
    if (Math.abs((one[at] ?? 0) - (other[at] ?? 0)) < 24) continue;
    const [x, y] = [((at / 3) % SIZE.width) / SIZE.width, Math.floor(at / 3 / SIZE.width) / SIZE.height];
    box.left = Math.min(box.left, x);
    box.right = Math.max(box.right, x);
    box.top = Math.min(box.top, y);
    box.bottom = Math.max(box.bottom, y);
    box.pixels += 1;
  }
  return box;
}

test('only the mouth of a drawn presenter opens when nothing but the mouth does', async () => {
  const plan = { prompt: '', seed: 3, size: SIZE };
  const [shut, open] = [
    await createDrawnPresenter(plan, still(SHUT)),
    await createDrawnPresenter(plan, still(OPEN)),
  ];
  const { pixels, left, right, top, bottom } = changes(drawn(shut), drawn(open));
  expect(pixels).toBeGreaterThan(20);
  expect(left).toBeGreaterThan(0.35);
  expect(right).toBeLessThan(0.65);
  expect(top).toBeGreaterThan(0.35);
  expect(bottom).toBeLessThan(0.65);
  expect(drawn(shut).equals(drawn(shut))).toBe(true);
});

test('a mouth is drawn on an image in its face box, and nowhere without one', async () => {
  const image = await sharp({ create: { ...SIZE, channels: 3, background: '#c0a080' } })
    .png()
    .toBuffer();
  const face = { x: 0.5, y: 0.25, width: 0.4, height: 0.5 };
  const film = (mouth: Mouth, box: typeof face | null) =>
    createTalkingImage({ image, face: box, size: SIZE }, still(mouth));
  const [shut, open] = [await film(SHUT, face), await film(OPEN, face)];
  const { pixels, left, right, top, bottom } = changes(drawn(shut), drawn(open));
  expect(pixels).toBeGreaterThan(10);
  expect(left).toBeGreaterThan(0.55);
  expect(right).toBeLessThan(0.85);
  expect(top).toBeGreaterThan(0.5);
  expect(bottom).toBeLessThan(0.78);
  expect(changes(drawn(await film(SHUT, null)), drawn(await film(OPEN, null))).pixels).toBe(0);
});

test('an image comes nearer as the voice gets louder, and never shows what is beside it', async () => {
  const edge = await sharp({ create: { ...SIZE, channels: 3, background: '#00a000' } })
    .png()
    .toBuffer();
  const track = Array.from({ length: 40 }, (_value, index) => ({ ...SHUT, level: index < 20 ? 0 : 1 }));
  const film = await createTalkingImage(
    { image: edge, face: null, size: SIZE },
    { track, framesPerSecond: 12 },
  );
  for (const moment of [0, 0.3, 0.6, 1]) {
    const frame = drawn(film, moment);
    const corner = [frame[0], frame[1], frame[2]];
    expect(Math.abs((corner[1] ?? 0) - 0xa0)).toBeLessThan(6);
    expect(corner[0]).toBeLessThan(8);
  }
});

test('a presenter looks different by seed, and blinks', () => {
  expect(createLook(1)).toEqual(createLook(1));
  expect(createLook(1)).not.toEqual(createLook(2));
  const eyes = Array.from({ length: 600 }, (_value, frame) => eyesAt(createLook(1), frame / 25));
  expect(eyes.filter((open) => open < 0.5).length).toBeGreaterThan(5);
  expect(eyes.filter((open) => open === 1).length).toBeGreaterThan(500);
});

const sound = (value: (index: number) => number, seconds = 1) => ({
  samples: Float32Array.from({ length: 16_000 * seconds }, (_value, index) => value(index)),
  sampleRate: 16_000,
});

test('the mouth follows the phones where they are known', () => {
  const phones = [
    { name: 'm', start: 0, end: 0.5 },
    { name: 'aa', start: 0.5, end: 0.9 },
  ];
  const loud = sound((index) => Math.sin(index / 10));
  const track = mouthTrack(loud, 25, { framesPerSecond: 25, phones });
  expect(track[11]?.open).toBe(0);
  expect(track[21]?.open).toBeGreaterThan(0.9);
  expect(track[24]?.open).toBeLessThan(0.5);
});

test('the mouth follows the loudness where they are not: wide open for vowels, narrow for hissing', () => {
  const open = (value: (index: number) => number) =>
    mouthTrack(sound(value), 25, { framesPerSecond: 25, phones: null })[20];
  const vowel = open((index) => Math.sin(index / 12));
  const hiss = open((index) => (index % 2 === 0 ? 0.8 : -0.8));
  const silence = open(() => 0);
  const noise = open((index) => 0.0001 * Math.sin(index));
  expect(vowel?.open).toBeGreaterThan(0.9);
  expect(hiss?.open).toBeLessThan(0.5);
  expect(hiss?.wide).toBeGreaterThan(0.9);
  expect(silence).toMatchObject({ open: 0, level: 0 });
  expect(noise?.open).toBe(0);
  expect(
    countFrames(
      sound(() => 0, 2),
      12,
    ),
  ).toBe(24);
});

/** Shown in the order 0 2 1: the last one was coded before it. */
const packets = [
  new EncodedPacket(new Uint8Array(3), 'key', 0.5, 0.1),
  new EncodedPacket(new Uint8Array(3), 'delta', 0.7, 0.1),
  new EncodedPacket(new Uint8Array(3), 'delta', 0.6, 0.1),
];
const shown = (seconds: number) =>
  [...repeated(packets, seconds).packets].map(({ timestamp }) => Math.round(timestamp * 10) / 10);

test('repeats the frames of a video from its beginning, whole groups as they were coded', () => {
  expect(shown(0.3)).toEqual([0, 0.2, 0.1]);
  expect(shown(0.5)).toEqual([0, 0.2, 0.1, 0.3, 0.5, 0.4]);
  expect(shown(0.1)).toEqual([0]);
  expect(shown(0.15)).toEqual([0, 0.2, 0.1]);
  expect(repeated(packets, 1)).toMatchObject({ rate: 10 });
});

test('repeats no more than fits, however short or large the frames are', () => {
  const instant = [new EncodedPacket(new Uint8Array(3), 'key', 0, 0)];
  expect([...repeated(instant, 1).packets]).toHaveLength(60);
  const large = [new EncodedPacket(new Uint8Array(9 * 1024 * 1024), 'key', 0, 0.5)];
  expect(() => repeated(large, 60)).toThrow(StudioError);
  expect(() => repeated(large, 60)).toThrow('larger than 256 MB');
});
