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
} from 'mediabunny';
import type { InputVideoTrack } from 'mediabunny';

import type { Sound } from '../sound/sound.ts';
import { clearTimes } from './mp4-times.ts';

registerAacEncoder();

const AAC_BITS_PER_SECOND = 96_000;
const COLOURS = { primaries: 'bt709', transfer: 'bt709', matrix: 'bt709', fullRange: false } as const;

export interface Mp4Parts {
  /** A bare MP4 whose pictures are taken over as they are. */
  readonly pictures: Uint8Array;
  readonly framesPerSecond: number;
  /** As long as the pictures; none makes a file without an audio track. */
  readonly sound: Sound | null;
  readonly title: string;
  readonly comment: string;
  /** A small JPEG that stands for the video in lists; it is kept inside the file. */
  readonly cover: Uint8Array;
}

/** Puts pictures, sound, title and cover into an MP4 whose index comes first. The same parts give the same bytes. */
export async function writeMp4(parts: Mp4Parts): Promise<Buffer> {
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(parts.pictures) });
  const target = new BufferTarget();
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: 'in-memory' }), target });
  const pictures = new EncodedVideoPacketSource('avc');
  output.addVideoTrack(pictures, { frameRate: parts.framesPerSecond });
  const sound =
    parts.sound === null ? null : new AudioSampleSource({ codec: 'aac', bitrate: AAC_BITS_PER_SECOND });
  if (sound !== null) output.addAudioTrack(sound);
  output.setMetadataTags({
    title: parts.title,
    comment: parts.comment,
    images: [{ data: parts.cover, mimeType: 'image/jpeg', kind: 'coverFront' }],
  });
  await output.start();
  await copyPictures(await input.getPrimaryVideoTrack(), pictures);
  if (sound !== null && parts.sound !== null) await addSound(parts.sound, sound);
  await output.finalize();
  if (target.buffer === null) throw new Error('the video file was not written');
  return clearTimes(Buffer.from(target.buffer));
}

async function copyPictures(track: InputVideoTrack | null, into: EncodedVideoPacketSource): Promise<void> {
  const config = await track?.getDecoderConfig();
  if (track === null || config === null || config === undefined) throw new Error('nothing was encoded');
  const meta = { decoderConfig: { ...config, colorSpace: COLOURS } };
  let isFirst = true;
  for await (const packet of new EncodedPacketSink(track).packets()) {
    await into.add(packet, isFirst ? meta : undefined);
    isFirst = false;
  }
  into.close();
}

/** A second at a time: the encoder is not given more than it can take. */
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
