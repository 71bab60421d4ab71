import { parentPort } from 'node:worker_threads';

import { OggVorbisDecoder } from '@wasm-audio-decoders/ogg-vorbis';
import {
  ALL_FORMATS,
  AudioSampleSink,
  BufferSource,
  EncodedPacketSink,
  Input,
  type InputAudioTrack,
  Logging,
  LogLevel,
} from 'mediabunny';
import { MPEGDecoder } from 'mpg123-decoder';
import { OpusDecoder } from 'opus-decoder';

import type { Peaks } from './decoder-messages.ts';

/** The thread that decodes one recording and keeps its peaks. */

/** Samples of which one peak is kept. */
const SLICE = 441;
/** Samples that are decoded at most: three hours at 44,100 a second. */
const MAX_SAMPLES = 3 * 3_600 * 44_100;
const CHUNK_BYTES = 64 * 1024;

interface Decoded {
  readonly channelData: readonly Float32Array[];
}

// What it tells of odd files would stand between the lines of the log.
Logging.level = LogLevel.Silent;

parentPort?.once('message', (recording: Uint8Array) => {
  void computePeaks(recording)
    .catch(() => null)
    .then((peaks) => {
      parentPort?.postMessage(peaks);
    });
});

async function computePeaks(recording: Uint8Array): Promise<Peaks> {
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(recording) });
  try {
    const track = await input.getPrimaryAudioTrack();
    if (track === null) return null;
    const peaks = createPeaks();
    for await (const { channelData } of decoded(track, recording)) {
      peaks.add(channelData);
      if (peaks.samples() > MAX_SAMPLES) break;
    }
    return peaks.samples() === 0 ? null : peaks.all();
  } finally {
    input.dispose();
  }
}

async function* decoded(track: InputAudioTrack, recording: Uint8Array): AsyncGenerator<Decoded> {
  const codec = await track.getCodec();
  const channels = await track.getNumberOfChannels();
  if (codec === 'mp3') yield* decodedPackets(new MPEGDecoder(), track);
  else if (codec === 'opus' && channels <= 2) yield* decodedPackets(new OpusDecoder({ channels }), track);
  else if (codec === 'vorbis') yield* decodedVorbis(recording);
  else yield* decodedPcm(track);
}

/** Throws for codecs that need a decoder of the platform. */
async function* decodedPcm(track: InputAudioTrack): AsyncGenerator<Decoded> {
  for await (const sample of new AudioSampleSink(track).samples()) {
    const channelData = Array.from({ length: sample.numberOfChannels }, (_, planeIndex) => {
      const channel = new Float32Array(sample.numberOfFrames);
      sample.copyTo(channel, { planeIndex, format: 'f32-planar' });
      return channel;
    });
    sample.close();
    yield { channelData };
  }
}

async function* decodedPackets(
  decoder: MPEGDecoder | OpusDecoder,
  track: InputAudioTrack,
): AsyncGenerator<Decoded> {
  await decoder.ready;
  for await (const packet of new EncodedPacketSink(track).packets()) yield decoder.decodeFrame(packet.data);
}

/** This decoder reads the pages of Ogg itself. */
async function* decodedVorbis(recording: Uint8Array): AsyncGenerator<Decoded> {
  const decoder = new OggVorbisDecoder();
  await decoder.ready;
  for (let at = 0; at < recording.length; at += CHUNK_BYTES) {
    yield await decoder.decode(recording.subarray(at, at + CHUNK_BYTES));
  }
  yield await decoder.flush();
}

function createPeaks() {
  const peaks: number[] = [];
  let total = 0;
  return {
    add(channels: readonly Float32Array[]) {
      const length = channels[0]?.length ?? 0;
      for (let index = 0; index < length; index += 1) {
        let peak = 0;
        for (const channel of channels) peak = Math.max(peak, Math.abs(channel[index] ?? 0));
        const slice = Math.floor((total + index) / SLICE);
        peaks[slice] = Math.max(peaks[slice] ?? 0, Math.min(1, peak));
      }
      total += length;
    },
    samples: () => total,
    all: () => Float32Array.from(peaks),
  };
}
