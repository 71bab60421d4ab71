import { parentPort } from 'node:worker_threads';

import { H264Decoder } from 'h264decoder';
import {
  ALL_FORMATS,
  BufferSource,
  BufferTarget,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  Input,
  MkvOutputFormat,
  Output,
  type EncodedPacket,
  type InputVideoTrack,
} from 'mediabunny';

import type { FirstFrame } from './decoder-messages.ts';
import { parameterSetsOf, unitsOf } from './h264-units.ts';
import { rgbOf } from './rgb.ts';

/** The thread that takes the first picture out of one video, and decodes it where it is H.264 of the Baseline profile. */

/** Larger pictures are not decoded. */
const MAX_PIXELS = 4_096 * 4_096;

parentPort?.once('message', (video: Uint8Array) => {
  void firstFrameOf(video)
    .catch(() => null)
    .then((picture) => {
      parentPort?.postMessage(picture);
    });
});

async function firstFrameOf(video: Uint8Array): Promise<FirstFrame | null> {
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(video) });
  try {
    const track = await input.getPrimaryVideoTrack();
    const packet = track === null ? null : await new EncodedPacketSink(track).getFirstPacket();
    if (track === null || packet === null) return null;
    const rotation = await track.getRotation();
    const decoded = await decode(track, packet);
    return { decoded, packet: decoded === null ? await alone(track, packet) : null, rotation };
  } finally {
    input.dispose();
  }
}

async function decode(track: InputVideoTrack, packet: EncodedPacket): Promise<FirstFrame['decoded']> {
  const config = await track.getDecoderConfig();
  if (config?.codec.startsWith('avc1.42') !== true || config.description === undefined) return null;
  const { codedWidth: width = 0, codedHeight: height = 0 } = config;
  if (width * height > MAX_PIXELS) return null;
  const { lengthBytes, parameterSets } = parameterSetsOf(bytesOf(config.description));
  const decoder = new H264Decoder();
  for (const unit of [...parameterSets, ...unitsOf(packet.data, lengthBytes)]) {
    if (decoder.decode(unit) !== H264Decoder.PIC_RDY) continue;
    const { pic, width: stride, height: rows } = decoder;
    if (stride < width || rows < height) return null;
    return { rgb: rgbOf(pic, { stride, rows }, { width, height }), width, height };
  }
  return null;
}

/** The picture's packet as a file of its own: what another decoder is given, instead of a file with an index to follow. */
async function alone(track: InputVideoTrack, packet: EncodedPacket): Promise<Uint8Array | null> {
  const [codec, config] = [await track.getCodec(), await track.getDecoderConfig()];
  if (codec === null || config === null) return null;
  const target = new BufferTarget();
  const output = new Output({ format: new MkvOutputFormat(), target });
  const source = new EncodedVideoPacketSource(codec);
  output.addVideoTrack(source);
  await output.start();
  await source.add(packet.clone({ timestamp: 0 }), { decoderConfig: config });
  await output.finalize();
  return target.buffer === null ? null : new Uint8Array(target.buffer);
}

function bytesOf(source: ArrayBufferView | ArrayBufferLike): Uint8Array {
  return ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
}
