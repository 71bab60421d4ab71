import { registerAacEncoder } from '@mediabunny/aac-encoder';
import {
  ALL_FORMATS,
  AudioSample,
  AudioSampleSource,
  BufferSource,
  BufferTarget,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  Input,
  Mp4OutputFormat,
  Output,
  type EncodedPacket,
  type InputVideoTrack,
  type VideoCodec,
  type VideoTrackMetadata,
} from 'mediabunny';

import type { Sound } from '../sound/sound.ts';

registerAacEncoder();

const AAC_BITS_PER_SECOND = 96_000;
const COLOURS = { primaries: 'bt709', transfer: 'bt709', matrix: 'bt709', fullRange: false } as const;

/** The video track of an MP4. */
export interface FrameTrack {
  readonly codec: VideoCodec;
  readonly metadata: VideoTrackMetadata;
  /** What players need to decode them. */
  readonly config: VideoDecoderConfig;
  /** In decoding order; the first is a key frame. */
  readonly packets: AsyncIterable<EncodedPacket>;
}

/** The parts of an MP4 file. */
export interface Mp4Parts {
  readonly frames: FrameTrack;
  /** As long as the images; none makes a file without an audio track. */
  readonly sound: Sound | null;
  readonly title: string;
  readonly comment: string;
  /** A small JPEG, stored in the file as its cover. */
  readonly cover: Uint8Array;
}

/** Writes an MP4 with its index first (fast start). Deterministic. */
export async function writeMp4(parts: Mp4Parts): Promise<Buffer> {
  const target = new BufferTarget();
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: 'in-memory' }), target });
  const frames = new EncodedVideoPacketSource(parts.frames.codec);
  output.addVideoTrack(frames, parts.frames.metadata);
  const sound =
    parts.sound === null ? null : new AudioSampleSource({ codec: 'aac', bitrate: AAC_BITS_PER_SECOND });
  if (sound !== null) output.addAudioTrack(sound);
  output.setMetadataTags({
    title: parts.title,
    comment: parts.comment,
    images: [{ data: parts.cover, mimeType: 'image/jpeg', kind: 'coverFront' }],
  });
  await output.start();
  await addImages(parts.frames, frames);
  if (sound !== null && parts.sound !== null) await addSound(parts.sound, sound);
  await output.finalize();
  if (target.buffer === null) throw new Error('the video file was not written');
  return clearTimes(Buffer.from(target.buffer));
}

/** The same with the packets of a bare MP4, which are copied. */
export async function writeEncodedMp4(
  encoded: { readonly mp4: Uint8Array; readonly framesPerSecond: number },
  parts: Omit<Mp4Parts, 'frames'>,
): Promise<Buffer> {
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(encoded.mp4) });
  try {
    const track = await input.getPrimaryVideoTrack();
    const config = await track?.getDecoderConfig();
    if (track === null || config === null || config === undefined) throw new Error('nothing was encoded');
    const frames: FrameTrack = {
      codec: 'avc',
      metadata: { frameRate: encoded.framesPerSecond },
      config: { ...config, colorSpace: COLOURS },
      packets: verifiedPackets(track),
    };
    return await writeMp4({ ...parts, frames });
  } finally {
    input.dispose();
  }
}

/**
 * The packets of a track, each a key frame or not by its bitstream: a file without a table of key frames, as our encoder
 * writes it, claims that all are, and players that seek in what is made of it find nothing to decode.
 */
export function verifiedPackets(track: InputVideoTrack): AsyncIterable<EncodedPacket> {
  return new EncodedPacketSink(track).packets(undefined, undefined, { verifyKeyPackets: true });
}

async function addImages({ config, packets }: FrameTrack, into: EncodedVideoPacketSource): Promise<void> {
  let isFirst = true;
  for await (const packet of packets) {
    await into.add(packet, isFirst ? { decoderConfig: config } : undefined);
    isFirst = false;
  }
  into.close();
}

/** The sound in chunks of a second, for the encoder's buffer. */
async function addSound({ samples, sampleRate }: Sound, into: AudioSampleSource): Promise<void> {
  for (let start = 0; start < samples.length; start += sampleRate) {
    const sample = new AudioSample({
      data: samples.subarray(start, start + sampleRate),
      format: 'f32',
      numberOfChannels: 1,
      sampleRate,
      timestamp: start / sampleRate,
    });
    await into.add(sample);
    sample.close();
  }
  into.close();
}

/** Container boxes on the path to the boxes with times. */
const FOLDERS = new Set(['moov', 'trak', 'mdia']);
const TIMED = new Set(['mvhd', 'tkhd', 'mdhd']);
const HEADER_BYTES = 8;

/** Sets the creation and modification times of an MP4 to zero, in place, so that files are reproducible. */
export function clearTimes(mp4: Buffer): Buffer {
  clearWithin(mp4, 0, mp4.length);
  return mp4;
}

function clearWithin(mp4: Buffer, start: number, end: number): void {
  for (let at = start; at + HEADER_BYTES <= end;) {
    const { size, header } = measureBox(mp4, at, end);
    const type = mp4.toString('latin1', at + 4, at + 8);
    if (size < header || at + size > end) throw new Error(`the MP4 box ${type} is cut off`);
    if (FOLDERS.has(type)) clearWithin(mp4, at + header, at + size);
    // A version byte and three of flags, then the two times: 8 bytes each in version 1, else 4.
    if (TIMED.has(type)) {
      const times = at + header + 4;
      mp4.fill(0, times, times + (mp4[at + header] === 1 ? 16 : 8));
    }
    at += size;
  }
}

/** A size of 1 means that the real one follows in 8 bytes, 0 that the box extends to the end. */
function measureBox(mp4: Buffer, at: number, end: number): { size: number; header: number } {
  const short = mp4.readUInt32BE(at);
  if (short === 0) return { size: end - at, header: HEADER_BYTES };
  if (short !== 1) return { size: short, header: HEADER_BYTES };
  if (at + 16 > end) throw new Error('an MP4 box is cut off');
  return { size: Number(mp4.readBigUInt64BE(at + 8)), header: 16 };
}
