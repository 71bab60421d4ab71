import { ALL_FORMATS, AudioSampleSink, BufferSource, EncodedPacketSink, Input } from 'mediabunny';
import type { InputAudioTrack } from 'mediabunny';
import { MPEGDecoder } from 'mpg123-decoder';

import { canDecode } from '../decode/decoders.ts';
import { StudioError } from '../types/media-types.ts';
import { joined } from './sound.ts';
import type { Sound } from './sound.ts';

/** Accepted sample rates; others would make a second of sound too expensive. */
const [LOWEST_RATE, HIGHEST_RATE] = [4_000, 384_000] as const;

/**
 * Decodes WAV (PCM) or MP3, also inside a video, mixed to one channel and limited in length. AAC, Opus and others need the
 * optional decoders. Throws UNREADABLE_MEDIA.
 */
export async function decodeSound(media: Uint8Array, mostSeconds: number): Promise<Sound> {
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(media) });
  try {
    const track = await input.getPrimaryAudioTrack();
    if (track === null) throw new StudioError('UNREADABLE_MEDIA', 'the file has no sound');
    const sound = await decodeTrack(track, mostSeconds);
    if (sound.samples.length === 0) throw new StudioError('UNREADABLE_MEDIA', 'the sound is empty');
    if (sound.sampleRate < LOWEST_RATE || sound.sampleRate > HIGHEST_RATE) {
      throw new StudioError('UNREADABLE_MEDIA', `no sound has ${sound.sampleRate} samples a second`);
    }
    return sound;
  } catch (cause) {
    if (cause instanceof StudioError) throw cause;
    throw new StudioError('UNREADABLE_MEDIA', 'the sound cannot be read', { cause });
  } finally {
    input.dispose();
  }
}

async function decodeTrack(track: InputAudioTrack, mostSeconds: number): Promise<Sound> {
  const codec = await track.getCodec();
  if (codec === 'mp3') return decodeMp3(track, mostSeconds);
  if (await canDecode(track)) return decodePlain(track, mostSeconds);
  throw new StudioError(
    'UNREADABLE_MEDIA',
    `the sound is ${codec ?? 'of an unknown kind'}, which cannot be decoded here: send MP3 or WAV`,
  );
}

async function decodePlain(track: InputAudioTrack, mostSeconds: number): Promise<Sound> {
  const pieces: Float32Array[] = [];
  for await (const sample of new AudioSampleSink(track).samples(0, mostSeconds)) {
    const channels = Array.from({ length: sample.numberOfChannels }, (_value, planeIndex) => {
      const channel = new Float32Array(sample.numberOfFrames);
      sample.copyTo(channel, { planeIndex, format: 'f32-planar' });
      return channel;
    });
    sample.close();
    pieces.push(mixed(channels));
  }
  return { samples: joined(pieces), sampleRate: await track.getSampleRate() };
}

async function decodeMp3(track: InputAudioTrack, mostSeconds: number): Promise<Sound> {
  const frames: Uint8Array[] = [];
  for await (const packet of new EncodedPacketSink(track).packets()) {
    if (packet.timestamp >= mostSeconds) break;
    frames.push(packet.data);
  }
  const decoder = new MPEGDecoder();
  await decoder.ready;
  try {
    const { channelData, sampleRate } = decoder.decodeFrames(frames);
    return { samples: mixed(channelData), sampleRate };
  } finally {
    decoder.free();
  }
}

function mixed(channels: readonly Float32Array[]): Float32Array {
  const [first] = channels;
  if (first === undefined || channels.length === 1) return first ?? new Float32Array();
  return first.map((_value, index) => {
    const sum = channels.reduce((total, channel) => total + (channel[index] ?? 0), 0);
    return sum / channels.length;
  });
}
