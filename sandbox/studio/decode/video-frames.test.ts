import {
  ALL_FORMATS,
  BufferSource,
  CustomVideoDecoder,
  EncodedPacketSink,
  Input,
  registerDecoder,
  VideoSample,
  type EncodedPacket,
} from 'mediabunny';
import sharp from 'sharp';
import { expect, test } from 'vitest';

import { createInstantStudio } from '../instant/instant-studio.ts';
import { planPresenter } from '../plan/plan.ts';
import { makePresenter } from '../presenter/presenter.ts';
import { writeWav } from '../sound/sound.ts';
import { writeMp4 } from '../video/mp4.ts';
import { openVideoFrames } from './video-frames.ts';

/** What the decoder of this test does with a frame. */
let behaviour: 'shows' | 'fails' | 'tires' | 'refuses' = 'shows';

/**
 * Says what optional decoders say, with frames whose redness is their time and that are green on the left: no real
 * decoder is needed to see what is done with them.
 */
class ColourDecoder extends CustomVideoDecoder {
  static override supports(): boolean {
    return behaviour !== 'refuses';
  }
  override init(): void {}
  override decode(packet: EncodedPacket): void {
    if (behaviour === 'fails' || (behaviour === 'tires' && packet.timestamp > 0.5)) {
      this.onError(new Error('not this one'));
      return;
    }
    const { codedWidth = 0, codedHeight = 0 } = this.config;
    const rgba = Buffer.alloc(codedWidth * codedHeight * 4);
    for (let at = 0; at < rgba.length; at += 4) {
      const isLeft = (at / 4) % codedWidth < codedWidth / 2;
      rgba.set([Math.round(packet.timestamp * 100), isLeft ? 200 : 60, 60, 255], at);
    }
    this.onSample(
      new VideoSample(rgba, {
        format: 'RGBA',
        codedWidth,
        codedHeight,
        timestamp: packet.timestamp,
        duration: packet.duration,
      }),
    );
  }
  override flush(): void {}
  override close(): void {}
}
registerDecoder(ColourDecoder);

/** 128x72, two seconds of 12 frames each. */
const clip = async () => (await createInstantStudio().video({ prompt: 'anything' })).bytes;
const silence = (seconds: number) =>
  writeWav({ samples: new Float32Array(8_000 * seconds), sampleRate: 8_000 });
const make = async (more: object) =>
  makePresenter(await planPresenter({ video: await clip(), audio: silence(1), ...more }, 'small'), () => {});

test('shows the frame of each time, and starts again after the last', async () => {
  behaviour = 'shows';
  const frames = await openVideoFrames(await clip());
  expect(frames?.size).toEqual({ width: 128, height: 72 });
  const redAt = async (seconds: number) => (await frames!.at(seconds)).data()[0] ?? 0;
  for (const [seconds, red] of [
    [0, 0],
    [0.04, 0],
    [0.5, 50],
    [1.95, 192],
    [2.05, 0],
    [2.6, 50],
    [4.6, 50],
  ] as const) {
    expect(Math.abs((await redAt(seconds)) - red)).toBeLessThan(9);
  }
  await frames?.close();
});

test('redraws a video that can be decoded, in its own shape and never larger than it is', async () => {
  behaviour = 'shows';
  const talk = await make({});
  expect(talk).toMatchObject({ width: 128, height: 72, redrawn: true });
  expect(talk.note).toContain('no mouth is drawn');
  const { channels } = await sharp(talk.poster).stats();
  // From its middle, half a second from the start.
  expect(Math.abs((channels[0]?.mean ?? 0) - 55)).toBeLessThan(12);
  expect(await make({ aspectRatio: '1:1' })).toMatchObject({ width: 72, height: 72 });
  expect((await make({})).bytes.equals(talk.bytes)).toBe(true);
});

test.each([
  [90, 'top'],
  [180, 'right'],
  [270, 'bottom'],
] as const)('turns a video by the %i degrees that its file says: left becomes %s', async (rotation, side) => {
  behaviour = 'shows';
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(await clip()) });
  const track = await input.getPrimaryVideoTrack();
  const turned = await writeMp4({
    frames: {
      codec: 'avc',
      config: (await track!.getDecoderConfig())!,
      metadata: { rotation },
      packets: new EncodedPacketSink(track!).packets(),
    },
    sound: null,
    title: '',
    comment: '',
    cover: Buffer.alloc(0),
  });
  const frames = await openVideoFrames(turned);
  const { width, height } = frames!.size;
  expect([width, height]).toEqual(rotation === 180 ? [128, 72] : [72, 128]);
  const canvas = await frames!.at(0);
  const greenAt = (x: number, y: number) =>
    canvas.data()[(Math.floor(y * height) * width + Math.floor(x * width)) * 4 + 1] ?? 0;
  const places = { top: [0.5, 0.2], right: [0.8, 0.5], bottom: [0.5, 0.8] } as const;
  const [x, y] = places[side];
  expect(greenAt(x, y)).toBe(200);
  expect(greenAt(1 - x, 1 - y)).toBe(60);
  await frames!.close();
  behaviour = 'refuses';
  expect(await make({ video: turned })).toMatchObject({ width, height, redrawn: false });
});

test.each(['fails', 'refuses'] as const)('copies a video when its decoder %s', async (how) => {
  behaviour = how;
  expect(await openVideoFrames(await clip())).toBeNull();
  expect(await make({})).toMatchObject({ width: 128, height: 72, redrawn: false });
});

test('says so when the decoding stops half way', async () => {
  behaviour = 'tires';
  await expect(make({})).rejects.toEqual(
    expect.objectContaining({ name: 'StudioRefusal', code: 'UNREADABLE_MEDIA' }),
  );
});

test('leaves profiles alone that decoders are known to get wrong', async () => {
  behaviour = 'shows';
  const video = Buffer.from(await clip());
  const profile = video.indexOf('avcC') + 5;
  video[profile] = 0x7a; // High 4:2:2, which may have ten bits
  expect(await openVideoFrames(video)).toBeNull();
});
