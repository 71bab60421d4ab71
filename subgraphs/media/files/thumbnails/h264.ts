import { H264Decoder } from 'h264decoder';
import {
  type EncodedPacket,
  type InputVideoTrack,
  BufferTarget,
  EncodedVideoPacketSource,
  MkvOutputFormat,
  Output,
} from 'mediabunny';

import type { DecodedImage } from './decoder-messages.ts';

/** Images of H.264 of the Baseline profile, which need no other program. */

/** Larger images are not decoded. */
const MAX_PIXELS = 4_096 * 4_096;

/**
 * Decodes packets in their order; null where a packet has no whole image. The image is to be asked for before the next
 * packet: its colours take as long as decoding it, and most images are passed over.
 */
export type ImageDecoder = (packet: EncodedPacket) => (() => DecodedImage) | null;

/** The decoder of a track; null when it is of another codec or profile, or too large. */
export async function imageDecoder(track: InputVideoTrack): Promise<ImageDecoder | null> {
  const config = await track.getDecoderConfig();
  if (config?.codec.startsWith('avc1.42') !== true || config.description === undefined) return null;
  const { codedWidth: width = 0, codedHeight: height = 0 } = config;
  if (width * height > MAX_PIXELS) return null;
  const { lengthBytes, parameterSets } = readParameterSets(toBytes(config.description));
  const decoder = new H264Decoder();
  for (const unit of parameterSets) decoder.decode(unit);
  return (packet) => {
    for (const unit of splitUnits(packet.data, lengthBytes)) {
      if (decoder.decode(unit) !== H264Decoder.PIC_RDY) continue;
      const { pic, width: stride, height: rows } = decoder;
      if (stride < width || rows < height) return null;
      return () => ({ rgb: toRgb(pic, { stride, rows }, { width, height }), width, height });
    }
    return null;
  };
}

function toBytes(source: ArrayBufferView | ArrayBufferLike): Uint8Array {
  return ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
}

/** Pixels of a decoded image (planar YCbCr 4:2:0, limited range, BT.709 as video has it) as RGB, its padding cut off. Pure. */
export function toRgb(
  planes: Uint8Array,
  { stride, rows }: { readonly stride: number; readonly rows: number },
  { width, height }: { readonly width: number; readonly height: number },
): Uint8Array {
  const rgb = new Uint8ClampedArray(width * height * 3);
  const [halfStride, luma] = [stride / 2, stride * rows];
  const chroma = luma / 4;
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const small = (y >> 1) * halfStride + (x >> 1);
      const light = 1.164 * ((planes[y * stride + x] ?? 0) - 16);
      const blue = (planes[luma + small] ?? 128) - 128;
      const red = (planes[luma + chroma + small] ?? 128) - 128;
      const at = (y * width + x) * 3;
      rgb[at] = light + 1.793 * red;
      rgb[at + 1] = light - 0.213 * blue - 0.533 * red;
      rgb[at + 2] = light + 2.112 * blue;
    }
  }
  return new Uint8Array(rgb.buffer);
}

/** The parts of H.264 in MP4 (ISO/IEC 14496-15). Pure; a RangeError for what is cut off. */

/** What a decoder is told first, from an avcC box. */
interface ParameterSets {
  /** Bytes of the length before each unit of a packet. */
  readonly lengthBytes: number;
  readonly parameterSets: readonly Uint8Array[];
}

const FIRST_SET = 5;

function readParameterSets(avcC: Uint8Array): ParameterSets {
  const box = Buffer.from(avcC.buffer, avcC.byteOffset, avcC.byteLength);
  const parameterSets: Uint8Array[] = [];
  let at = FIRST_SET;
  // First the sequence parameter sets, whose count has five bits, then the picture parameter sets.
  for (const mask of [0x1f, 0xff]) {
    const count = box.readUInt8(at) & mask;
    at += 1;
    for (let index = 0; index < count; index += 1) {
      const length = box.readUInt16BE(at);
      parameterSets.push(box.subarray(at + 2, at + 2 + length));
      at += 2 + length;
    }
  }
  return { lengthBytes: (box.readUInt8(4) & 3) + 1, parameterSets };
}

/** The units of a packet. */
function splitUnits(packet: Uint8Array, lengthBytes: number): readonly Uint8Array[] {
  const bytes = Buffer.from(packet.buffer, packet.byteOffset, packet.byteLength);
  const units: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = bytes.readUIntBE(at, lengthBytes);
    units.push(bytes.subarray(at + lengthBytes, at + lengthBytes + length));
    at += lengthBytes + length;
  }
  return units;
}

/** Packets of a track as a Matroska file of their own: what another decoder is given, instead of a file with an index to follow. */
export async function packetsAlone(
  track: InputVideoTrack,
  packets: AsyncIterable<EncodedPacket> | Iterable<EncodedPacket>,
): Promise<Uint8Array | null> {
  const [codec, config] = [await track.getCodec(), await track.getDecoderConfig()];
  if (codec === null || config === null) return null;
  const target = new BufferTarget();
  const output = new Output({ format: new MkvOutputFormat(), target });
  const source = new EncodedVideoPacketSource(codec);
  output.addVideoTrack(source);
  await output.start();
  for await (const packet of packets) await source.add(packet, { decoderConfig: config });
  await output.finalize();
  return target.buffer === null ? null : new Uint8Array(target.buffer);
}
